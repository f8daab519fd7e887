-- breaks older binaries: no

-- The most instances that were unhealthy at once while they ran what a push gave them, of how many, and when that was:
-- whoever rolls back is told how a config did. Zero of zero where none was seen unhealthy.
alter table pushes
  add column unhealthy_count integer not null default 0,
  add column unhealthy_of integer not null default 0,
  add column unhealthy_at timestamptz(3);
