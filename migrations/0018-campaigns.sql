-- breaks older binaries: no

-- One change that is carried to many workloads.
create table campaigns (
  id text primary key,
  name text not null,
  description text not null,
  status text not null check (
    status in ('draft', 'planned', 'requested', 'approved', 'running', 'paused', 'halted', 'done', 'aborted',
      'rolling_back', 'rolled_back', 'rejected', 'withdrawn', 'expired')
  ),
  -- Counts edits, so that no plan of an earlier text is kept.
  edition integer not null,
  -- What is changed, for whom, in which waves and behind which limits, as it was asked for.
  change jsonb not null,
  scope jsonb not null,
  rules jsonb not null,
  -- What the plan came to, and the hash of everything that it binds; null before the first plan.
  plan jsonb,
  plan_hash text,
  policy_hash text,
  wave integer not null,
  wave_ended_at timestamptz(3),
  halt jsonb,
  -- Limits that an operator raised when he continued.
  raised jsonb not null,
  created_by text not null,
  requested_by text,
  requested_by_id text,
  requested_at timestamptz(3),
  request_comment text,
  -- [{by, byId, at, comment}]
  approvals jsonb not null,
  closed_by text,
  closed_by_id text,
  close_comment text,
  started_by text,
  started_by_id text,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index campaigns_newest on campaigns (created_at desc, id desc);
create index campaigns_at_work on campaigns (status) where status in ('running', 'rolling_back', 'done');

-- What a campaign does with each workload. The rows outlive the workloads, for evidence.
create table campaign_targets (
  campaign_id text not null references campaigns (id) on delete cascade,
  workload_id text not null,
  workload_name text not null,
  -- The order within the campaign.
  position integer not null,
  -- Null for those that are left out.
  wave integer,
  verdict text not null,
  -- Why it is refused or was skipped, a code.
  reason text,
  base_hash text,
  result_hash text,
  group_key text,
  is_production boolean not null,
  instance_count integer not null,
  state text not null check (
    state in ('left_out', 'waiting', 'offline', 'started', 'applied', 'failed', 'no_answer', 'overtaken', 'skipped',
      'expired', 'cancelled', 'rolling_back', 'rolled_back', 'rollback_failed', 'moved_on', 'no_way_back')
  ),
  push_id uuid unique,
  rollback_push_id uuid unique,
  -- How it failed, in the words of push targets.
  cause text,
  title text,
  was_degraded boolean not null,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  primary key (campaign_id, workload_id)
);
create index campaign_targets_next on campaign_targets (campaign_id, state, wave, position);
create index campaign_targets_by_workload on campaign_targets (workload_id);
