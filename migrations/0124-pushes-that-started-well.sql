-- breaks older binaries: no
--
-- Whether every live instance was healthy when the push was made, so that each process says of what broke after it since
-- which push that is; false where an older binary made it, of which nothing is said.

alter table pushes add column started_well boolean not null default false;
