-- breaks older binaries: no

-- How far apart the polls of an agent are, where that is longer than agents are waited for after a start.
alter table agent_workloads add column poll_interval_ms integer;
