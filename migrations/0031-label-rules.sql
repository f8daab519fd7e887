-- breaks older binaries: no

-- Trusted labels for all workloads of some identity, those that are to come as well.
create table label_rules (
  id uuid primary key,
  name text not null unique,
  -- Where two rules say different things under one key the highest counts, then the oldest.
  priority integer not null,
  -- Which identities are meant; null where the rule is a list.
  selector jsonb,
  labels jsonb not null,
  -- A table in CSV: identities in the first column, labels in the others; null where there is a selector.
  list text,
  created_by text not null,
  created_at timestamptz(3) not null,
  updated_by text not null,
  updated_at timestamptz(3) not null,
  check ((selector is null) <> (list is null))
);

-- What the rules give a workload, beside `trusted_labels`, which operators set and which win. It follows from the
-- rules and the identity; it is stored for those who read the tables alone.
alter table workloads add column rule_labels jsonb not null default '{}';
