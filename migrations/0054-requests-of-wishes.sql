-- breaks older binaries: no
-- The request that a wish became: what was decided about an earlier request for the same text says nothing of it. Null
-- where nothing was requested for it yet.
alter table managed_configs add column approval_id text references approvals (id) on delete set null;

update managed_configs m set approval_id = (
  select a.id from approvals a
  where a.workload_id = m.workload_id and a.target_group = 'git/' || m.owner and a.draft_hash = m.config_hash
  order by a.created_at desc, a.id desc limit 1);

create index managed_configs_by_approval on managed_configs (approval_id);
