-- breaks older binaries: no

-- Nothing of the push had been sent to this target when its stages failed, with nothing to go back to. Only the process that had
-- the fleet then knows it: to the next one a failure that the instance repeats looked as one of this push. False: something was, or
-- that is not known.
alter table push_targets add column was_unsent boolean not null default false;
