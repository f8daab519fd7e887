-- breaks older binaries: no

-- Whom a version of a fleet config reaches by itself: what was asked for, who approved it, and where it stands.
create table auto_applies (
  id text primary key,
  -- No keys: what was approved and done outlives the fleet config.
  fleet_config_id uuid not null,
  fleet_config_name text not null,
  status text not null check (
    status in ('requested', 'active', 'paused', 'held', 'ended', 'rejected', 'withdrawn', 'expired')
  ),
  -- What the approval binds.
  number integer not null,
  version_hash text not null,
  selector jsonb not null,
  priority integer not null,
  policy_hash text not null,
  reaches_production boolean not null,
  plan jsonb not null,
  plan_hash text not null,
  author_ids text[] not null,
  requested_by text not null,
  requested_by_id text not null,
  requested_at timestamptz(3) not null,
  request_comment text not null,
  -- [{by, byId, at, comment, rule}]
  approvals jsonb not null,
  -- Newcomers are those that were first seen since.
  active_since timestamptz(3),
  -- Failures from before do not stop it any more.
  counted_since timestamptz(3),
  -- Why it stopped by itself; null where it did not.
  hold jsonb,
  closed_by text,
  close_comment text,
  end_cause text check (end_cause in ('turned_off', 'replaced', 'rolled_back', 'config_removed')),
  ended_at timestamptz(3),
  updated_at timestamptz(3) not null
);
create unique index auto_applies_requested on auto_applies (fleet_config_id) where status = 'requested';
create unique index auto_applies_in_force on auto_applies (fleet_config_id)
  where status in ('active', 'paused', 'held');
create index auto_applies_newest on auto_applies (fleet_config_id, requested_at desc, id);

-- What was pushed by itself. The rows outlive the workloads, for evidence.
create table auto_apply_targets (
  auto_apply_id text not null references auto_applies (id) on delete cascade,
  workload_id text not null,
  workload_name text not null,
  is_newcomer boolean not null,
  is_production boolean not null,
  base_hash text,
  result_hash text not null,
  state text not null check (state in ('started', 'applied', 'failed', 'no_answer', 'overtaken')),
  push_id uuid not null unique,
  -- How it failed, in the words of push targets.
  cause text,
  title text,
  started_at timestamptz(3) not null,
  ended_at timestamptz(3),
  primary key (auto_apply_id, workload_id)
);
create index auto_apply_targets_newest on auto_apply_targets (auto_apply_id, started_at desc, workload_id);
create index auto_apply_targets_open on auto_apply_targets (auto_apply_id) where state = 'started';
create index auto_apply_targets_by_workload on auto_apply_targets (workload_id);

-- Under which fleet config a workload was last, kept when it is under none, and when it came there from another one.
create table fleet_config_moves (
  workload_id text primary key references workloads (id) on delete cascade,
  fleet_config_id uuid not null,
  came_at timestamptz(3)
);
insert into fleet_config_moves (workload_id, fleet_config_id)
  select workload_id, fleet_config_id from fleet_config_members;
