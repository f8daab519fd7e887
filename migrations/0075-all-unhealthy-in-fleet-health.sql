-- breaks older binaries: no

-- Workloads of which no instance was healthy as the fleet was counted: they were only counted among the degraded before,
-- and still are.
alter table fleet_health add column all_unhealthy integer not null default 0;
