-- breaks older binaries: no

-- The config that a workload without a base reported to run when a plan was made: the plan compares with it. Null for one
-- that has a base or reported nothing, and in plans from before this was kept.
alter table campaign_targets add column reported_hash text;
