-- breaks older binaries: no
-- Workloads whose config is kept in Git, by whom, and what was wished for last.

create table managed_configs (
  workload_id text primary key references workloads (id) on delete cascade,
  owner text not null,
  -- The hash that Git asks for; approvals of the group git/<owner> say what became of the wish.
  config_hash text not null check (length(config_hash) = 64),
  -- Empty where the pipeline did not say.
  commit_sha text not null,
  commit_author text not null,
  applied_at timestamptz(3) not null,
  applied_by text not null
);
create index managed_configs_by_owner on managed_configs (owner, workload_id);
