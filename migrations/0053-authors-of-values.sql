-- breaks older binaries: no

-- Who last set, or took away, each of a workload's own values of variables, and each trusted label that operators set on
-- it by hand, with the owners of service accounts: whoever does that writes or chooses a part of what a version becomes
-- there. The empty name stands for all names that are gone and are not kept one by one any more.
create table value_authors (
  workload_id text not null references workloads (id) on delete cascade,
  kind text not null check (kind in ('variable', 'label')),
  name text not null,
  author_ids text[] not null,
  primary key (workload_id, kind, name)
);

-- Everybody who made, changed or removed a label rule that gives a label, since there was a first rule for it.
create table label_rule_authors (
  label text primary key,
  author_ids text[] not null
);

create temporary table accounts_of_names on commit drop as
  select email, min(id::text) as id, min(owner_id::text) as owner_id, min(created_at) as created_at
  from users group by email having count(*) = 1;

insert into value_authors (workload_id, kind, name, author_ids)
select v.workload_id, 'variable', name, array_remove(array[a.id, a.owner_id], null)
from workload_variables v
  join accounts_of_names a on a.email = v.updated_by and a.created_at <= v.updated_at
  cross join lateral jsonb_object_keys(v.values) name;

insert into label_rule_authors (label, author_ids)
select named.label, array_agg(distinct by_whom.id)
from label_rules r
  cross join lateral (
    select jsonb_object_keys(r.labels) as label
    union
    -- The heading of a list: an identity key, then labels, which may be written with their prefix.
    select regexp_replace(btrim(cell, E' "\r\ufeff'), '^muster/', '')
    from regexp_split_to_table(split_part(r.list, E'\n', 1), ',') with ordinality as heading (cell, at)
    where at > 1) named
  join accounts_of_names a on a.email in (r.created_by, r.updated_by) and a.created_at <= r.updated_at
  cross join lateral unnest(array_remove(array[a.id, a.owner_id], null)) by_whom (id)
where named.label <> ''
group by named.label;
