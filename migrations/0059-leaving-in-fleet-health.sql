-- breaks older binaries: no

-- Workloads whose last instance had just left as the fleet was counted: they were counted as connected before.
alter table fleet_health add column leaving integer not null default 0;
