-- breaks older binaries: no

-- What the variables of a fleet config's version stand for in each workload, as it was planned.
alter table campaign_targets add column variables jsonb not null default '{}';
