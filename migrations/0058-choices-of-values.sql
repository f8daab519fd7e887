-- breaks older binaries: no

-- By variable: what chose its value, an own value of the workload or which label. Empty in plans that were made before.
alter table campaign_targets add column choices jsonb not null default '{}';
