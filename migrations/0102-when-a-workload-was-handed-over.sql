-- breaks older binaries: no

-- When an owner in Git got what it keeps or asks for of a workload from another one: until it asks for something else, what
-- it asked for itself before that, and nobody brought to run, has authors who count.
alter table managed_configs add column handed_over_at timestamptz;
alter table git_wishes add column handed_over_at timestamptz;
