-- breaks older binaries: no

-- 0083 was changed on the day that it came: who had run its first text lacks this column.
alter table managed_configs add column if not exists ran_config_hash text not null default '';
