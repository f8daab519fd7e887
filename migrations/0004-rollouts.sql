-- breaks older binaries: no

create table rollouts (
  id text primary key,
  workload_id text not null references workloads (id) on delete cascade,
  push_id uuid not null unique references pushes (push_id) on delete cascade,
  status text not null check (
    status in ('running', 'halted', 'succeeded', 'aborted', 'rollback_started', 'stopped', 'failed')
  ),
  -- As asked for: [{count | percentage, dwellSeconds, gates}].
  stages jsonb not null,
  -- What became of each stage that was started.
  progress jsonb not null,
  stage_index integer not null,
  -- The gate that stopped it, with its value, limit and instances.
  halt jsonb,
  -- Instances that an operator let pass when he continued.
  waived jsonb not null,
  actor text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  ended_at timestamptz(3)
);
create index rollouts_newest on rollouts (workload_id, created_at desc, id desc);
create unique index rollouts_one_open on rollouts (workload_id) where status in ('running', 'halted');

-- Who belongs to which stage. The last stage has everyone, and needs no rows.
create table rollout_members (
  rollout_id text not null references rollouts (id) on delete cascade,
  instance_uid text not null,
  stage integer not null,
  primary key (rollout_id, instance_uid)
);

-- The push of a rollout that is open, halted or aborted: it is assigned to the members of its stages.
alter table workloads add column rollout_push_id uuid;
