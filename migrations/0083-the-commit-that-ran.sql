-- breaks older binaries: no

-- Whoever changed a document since the commit whose text runs has a part in what is asked for now, also where nobody
-- asked for what they wrote. '' where that is not known.
alter table managed_configs
  add column ran_commit_sha text not null default '',
  add column ran_config_hash text not null default '';
alter table managed_fleet_configs add column ran_commit_sha text not null default '';
