-- breaks older binaries: no

-- What owners in Git ask for before anybody has approved one of their requests there: it keeps nobody out. With the first
-- approval it moves to managed_configs.
create table git_wishes (
  workload_id text not null references workloads (id) on delete cascade,
  owner text not null,
  config_hash text not null check (length(config_hash) = 64),
  approval_id text references approvals (id) on delete set null,
  commit_sha text not null,
  commit_author text not null,
  ran_commit_sha text not null,
  ran_config_hash text not null,
  applied_at timestamptz(3) not null,
  applied_by text not null,
  applied_by_id uuid references users (id) on delete set null,
  primary key (workload_id, owner)
);
create index git_wishes_by_owner on git_wishes (owner);
create index git_wishes_by_account on git_wishes (applied_by_id);
create index git_wishes_by_approval on git_wishes (approval_id);

-- Whatever was handed over keeps the group of the requests that its former owner made.
with unapproved as (
  delete from managed_configs m
  where not exists (
    select from approvals a
    where a.workload_id = m.workload_id and a.target_group like 'git/%' and a.approved_at is not null)
  returning m.*)
insert into git_wishes (workload_id, owner, config_hash, approval_id, commit_sha, commit_author, ran_commit_sha,
  ran_config_hash, applied_at, applied_by, applied_by_id)
select workload_id, owner, config_hash, approval_id, commit_sha, commit_author, ran_commit_sha,
  ran_config_hash, applied_at, applied_by, applied_by_id
from unapproved;
