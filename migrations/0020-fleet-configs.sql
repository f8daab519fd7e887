-- breaks older binaries: no

-- A config for many workloads, in numbered versions.
create table fleet_configs (
  id uuid primary key,
  name text not null unique,
  description text not null,
  selector jsonb not null,
  -- A workload that several select is under the highest.
  priority integer not null,
  -- The number of the newest version; 0 before the first.
  newest_version integer not null,
  created_by text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

create table fleet_config_versions (
  fleet_config_id uuid not null references fleet_configs (id) on delete cascade,
  number integer not null,
  body text not null,
  hash text not null,
  -- [{name, type, isRequired, pattern, fallback, description, label}]
  variables jsonb not null,
  -- {label, rows: {value of the label: {variable: value}}}, or null.
  value_table jsonb,
  comment text not null,
  author text not null,
  author_id text not null,
  created_at timestamptz(3) not null,
  primary key (fleet_config_id, number)
);

-- What was approved as a version must stay what it was.
create function refuse_version_change() returns trigger language plpgsql as $$
begin
  raise exception 'a version of a fleet config never changes';
end
$$;
create trigger version_stays before update of body, hash, variables, value_table, comment, author, created_at
  on fleet_config_versions for each row execute function refuse_version_change();

-- Under which fleet config each workload was last seen: on a tie it stays there.
create table fleet_config_members (
  workload_id text primary key references workloads (id) on delete cascade,
  fleet_config_id uuid not null references fleet_configs (id) on delete cascade,
  since timestamptz(3) not null
);
create index fleet_config_members_by_config on fleet_config_members (fleet_config_id, workload_id);

-- Values of variables that belong to one workload.
create table workload_variables (
  workload_id text primary key references workloads (id) on delete cascade,
  values jsonb not null,
  updated_by text not null,
  updated_at timestamptz(3) not null
);

-- Workloads that campaigns leave alone.
create table workload_holds (
  workload_id text primary key references workloads (id) on delete cascade,
  reason text not null,
  held_by text not null,
  held_by_id text not null,
  held_at timestamptz(3) not null,
  -- Listed as overdue from then on, never lifted by itself.
  due_at timestamptz(3) not null
);
