-- breaks older binaries: no

-- The newest migration that a process knows, and the newest one that breaks processes which do not know it. A
-- process that would migrate so waits for the others. Null for a process that is too old to say.
alter table members
  add column newest_migration integer,
  add column newest_breaking integer;
