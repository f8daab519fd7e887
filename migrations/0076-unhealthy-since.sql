-- breaks older binaries: no

-- Since when an agent has been unhealthy, which a process that becomes the owner cannot see by itself. Null for one that
-- is healthy, or that has not been unhealthy for so long that its workload shows it.
alter table agent_workloads add column unhealthy_since timestamptz;
