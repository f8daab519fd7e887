-- breaks older binaries: no

-- The text of every config that was ever requested or pushed, once, by the SHA-256 of its bytes.
create table config_contents (
  hash text primary key check (hash ~ '^[0-9a-f]{64}$'),
  body text not null,
  -- The components its pipelines and extensions use: [{category, type, id, path}].
  components jsonb not null,
  created_at timestamptz(3) not null
);

create table workloads (
  id text primary key,
  fingerprint_source text not null check (fingerprint_source in ('k8s', 'host', 'uid')),
  fingerprint_keys jsonb not null,
  display_name text not null,
  type text not null check (type in ('collector', 'sdk')),
  version text not null,
  status text not null check (status in ('connected', 'disconnected', 'degraded')),
  last_seen_at timestamptz(3) not null,
  -- As reported by agents.
  labels jsonb not null,
  -- Set by operators only; shown under the prefix muster/.
  trusted_labels jsonb not null,
  accepts_remote_config boolean not null,
  remote_config_status jsonb,
  available_components jsonb,
  -- What the workload should run, and the push that says so. Never what an agent reported.
  active_config_hash text references config_contents (hash),
  active_push_id uuid,
  -- Raised by every change of the assignment.
  generation bigint not null,
  -- The seq of the newest push.
  push_seq bigint not null,
  disconnected_at timestamptz(3),
  archived_at timestamptz(3),
  created_at timestamptz(3) not null
);
create index workloads_inventory on workloads (display_name, id);
create index workloads_expiring on workloads (disconnected_at) where archived_at is null;

-- Where an agent belonged when it last described itself, so that a bare first message after a restart of
-- the service finds its workload. Nothing else of an instance is stored.
create table agent_workloads (
  instance_uid text primary key,
  workload_id text not null references workloads (id) on delete cascade,
  seen_at timestamptz(3) not null
);
create index agent_workloads_workload on agent_workloads (workload_id);
create index agent_workloads_seen on agent_workloads (seen_at);

create table workload_events (
  id bigint generated always as identity primary key,
  workload_id text not null references workloads (id) on delete cascade,
  instance_uid text not null,
  pod_name text not null,
  event_type text not null check (event_type in ('connected', 'disconnected', 'version_changed')),
  version text not null,
  prev_version text not null,
  occurred_at timestamptz(3) not null
);
create index workload_events_newest on workload_events (workload_id, occurred_at desc, id desc);
create index workload_events_trim on workload_events (occurred_at);

-- The normal form of reported effective configs, one row a distinct text.
create table reported_configs (
  hash text primary key,
  body text not null,
  seen_at timestamptz(3) not null
);
create index reported_configs_seen on reported_configs (seen_at);

create table approvals (
  id text primary key,
  workload_id text not null references workloads (id) on delete cascade,
  draft_yaml text not null,
  draft_hash text not null,
  base_config_hash text,
  target_group text not null,
  target_env text not null,
  requester text not null,
  requester_id text not null,
  request_comment text not null,
  -- retired: a newer request for the same workload and group took its place; it is not listed.
  status text not null check (status in ('pending', 'approved', 'pushed', 'retired')),
  approver text,
  approver_id text,
  approval_comment text,
  approved_at timestamptz(3),
  push_comment text,
  push_id uuid,
  config_hash text,
  prod_target boolean not null,
  prod_confirmation boolean not null,
  prod_double_confirmed boolean not null,
  break_glass boolean not null,
  break_glass_reason text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  pushed_at timestamptz(3)
);
create unique index approvals_one_pending on approvals (workload_id, target_group) where status = 'pending';
create index approvals_newest on approvals (workload_id, updated_at desc, id desc);
create index approvals_by_status on approvals (status, updated_at desc, id desc);

-- One row a push: a revision of the workload. Status moves only pending, applied, failed.
create table pushes (
  push_id uuid primary key,
  workload_id text not null references workloads (id) on delete cascade,
  seq bigint not null,
  config_hash text not null references config_contents (hash),
  kind text not null check (kind in ('approval', 'rollback', 'auto-rollback')),
  pushed_by text not null,
  -- The assignment that this push made.
  generation bigint not null,
  status text not null check (status in ('pending', 'applied', 'failed')),
  phase text not null check (
    phase in ('submitted', 'sent', 'applying', 'applied', 'failed', 'superseded', 'no_status', 'aborted')
  ),
  submitted_at timestamptz(3) not null,
  sent_at timestamptz(3),
  applied_at timestamptz(3),
  failed_at timestamptz(3),
  updated_at timestamptz(3) not null,
  error_cause text,
  error_title text,
  error_parameters jsonb,
  error_text text,
  approval_id text,
  -- A rollback names the push it undoes; one automatic rollback a failed push.
  rollback_of_push_id uuid unique,
  failed_hash text,
  rollback_target_kind text,
  target_count integer not null,
  applying_count integer not null,
  applied_count integer not null,
  failed_count integer not null,
  straggler_count integer not null,
  gone_count integer not null,
  joined_count integer not null,
  excluded jsonb not null,
  unique (workload_id, seq)
);
create index pushes_by_hash on pushes (workload_id, config_hash, seq desc);
create index pushes_by_day on pushes (submitted_at);
create index pushes_pending on pushes (workload_id) where status = 'pending';

-- What each instance did with a push. A row exists before the first frame of its offer goes out.
create table push_targets (
  push_id uuid not null references pushes (push_id) on delete cascade,
  instance_uid text not null,
  pod_name text not null,
  -- False for an instance that joined after the push had ended: it moves nobody else.
  is_target boolean not null,
  is_joiner boolean not null,
  state text not null check (
    state in ('offered', 'applying', 'applied', 'failed', 'straggler', 'gone', 'cannot_report', 'superseded')
  ),
  generation bigint not null,
  offered_at timestamptz(3) not null,
  applying_at timestamptz(3),
  ended_at timestamptz(3),
  cause text,
  title text,
  parameters jsonb,
  error_text text,
  -- It had reported this hash as FAILED before the offer: the same words again are not news.
  had_failed_before boolean not null,
  losses integer not null,
  updated_at timestamptz(3) not null,
  primary key (push_id, instance_uid)
);

-- (workload, hash) with instance_uid '', or one instance of it.
create table quarantines (
  workload_id text not null references workloads (id) on delete cascade,
  config_hash text not null,
  instance_uid text not null,
  push_id uuid not null,
  created_at timestamptz(3) not null,
  primary key (workload_id, config_hash, instance_uid)
);

create table revision_labels (
  workload_id text not null references workloads (id) on delete cascade,
  config_hash text not null,
  label text not null,
  primary key (workload_id, config_hash)
);

create table known_good_configs (
  workload_id text primary key references workloads (id) on delete cascade,
  config_hash text not null references config_contents (hash),
  marked_at timestamptz(3) not null,
  marked_by text not null,
  source_applied_at timestamptz(3),
  replaced_config_hash text,
  replace_reason text
);
