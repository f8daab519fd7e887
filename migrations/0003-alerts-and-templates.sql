-- breaks older binaries: no

create table alerts (
  id text primary key check (id ~ '^[0-9a-f]{32}$'),
  workload_id text not null references workloads (id) on delete cascade,
  rule text not null check (rule in ('workload_down', 'config_drift', 'version_outdated')),
  severity text not null check (severity in ('warning', 'critical')),
  message text not null,
  fired_at timestamptz(3) not null,
  resolved_at timestamptz(3),
  -- An operator resolved it while its cause was there: the rule stays quiet until the cause has gone once.
  quiet boolean not null,
  check (not quiet or resolved_at is not null)
);
-- What counts for a workload and a rule is one row at most: open, or quiet.
create unique index alerts_current on alerts (workload_id, rule) where resolved_at is null or quiet;
create index alerts_open on alerts (fired_at desc, id) where resolved_at is null;
create index alerts_newest on alerts (fired_at desc, id);
create index alerts_by_workload on alerts (workload_id, fired_at desc, id);

-- What the webhook still has to be told, made in the alert's own transaction. A row goes when it was
-- delivered or given up. No foreign key: an alert is told also when its workload is gone meanwhile.
create table webhook_deliveries (
  id uuid primary key,
  alert_id text not null,
  -- The exact bytes of every attempt.
  body text not null,
  created_at timestamptz(3) not null,
  -- Counted before each attempt, so that a crash in the middle of one cannot make a fourth.
  attempts integer not null check (attempts between 0 and 3),
  next_attempt_at timestamptz(3) not null
);
create index webhook_deliveries_due on webhook_deliveries (next_attempt_at, id);

create table templates (
  id uuid primary key,
  name text not null,
  content text not null,
  kind text not null check (kind in ('saved', 'draft')),
  status text not null check (status in ('ready', 'draft')),
  category text not null,
  stack text not null,
  tags jsonb not null,
  source_type text not null check (source_type in ('manual', 'migration_assistant')),
  -- The id of a user who may be gone by now.
  created_by text not null,
  created_at timestamptz(3) not null
);
create index templates_newest on templates (created_at desc, id desc);

create table push_groups (
  id text primary key check (id ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  name text not null,
  description text not null,
  -- {match_labels, types, versions, capabilities}; labels are compared with trusted ones only.
  selector jsonb not null,
  -- The order in which they are listed.
  position bigint generated always as identity
);
insert into push_groups (id, name, description, selector) values
  ('prod-eu', 'Production EU collectors', 'Production collectors in the EU cluster',
   '{"match_labels": {"cluster": "prod-eu", "env": "prod"}, "types": ["collector"]}'),
  ('staging', 'Staging collectors', 'Collectors serving staging environments',
   '{"match_labels": {"env": "staging"}, "types": ["collector"]}'),
  ('edge', 'Edge collectors', 'Collectors deployed at the edge tier',
   '{"match_labels": {"tier": "edge"}, "types": ["collector"]}'),
  ('payments', 'Payments collectors', 'Production payment pipeline collectors',
   '{"match_labels": {"env": "prod", "team": "payments"}, "types": ["collector"]}');
