-- breaks older binaries: no
-- What was done past an approval, and waits until a second person has looked at it.

create table reviews (
  id text primary key,
  kind text not null check (kind in ('break_glass', 'rollback', 'known_good', 'labels')),
  workload_id text not null references workloads (id) on delete cascade,
  config_hash text,
  push_id uuid,
  approval_id text,
  -- Of labels: the classes that the workload had before, which hold for a while.
  kept_classes text[] not null default '{}',
  reason text not null,
  done_by text not null,
  -- Whoever did it, and answers for the service account that did: none of them looks at it.
  author_ids text[] not null,
  done_at timestamptz(3) not null,
  reviewed_by text,
  reviewed_by_id text,
  reviewed_at timestamptz(3),
  comment text,
  accepted boolean
);
create index reviews_open on reviews (done_at, id) where reviewed_at is null;
create index reviews_done on reviews (reviewed_at desc, id desc) where reviewed_at is not null;
create index reviews_by_workload on reviews (workload_id, kind);
create index reviews_by_approval on reviews (approval_id) where approval_id is not null;
-- A newer pin or label takes the place of one that nobody has looked at.
create unique index reviews_one_open on reviews (workload_id, kind)
  where reviewed_at is null and kind in ('known_good', 'labels');

-- Glass that was broken before waits as well.
insert into reviews (id, kind, workload_id, config_hash, push_id, approval_id, reason, done_by, author_ids, done_at)
  select 'rev_' || substr(a.id, 5), 'break_glass', a.workload_id, a.config_hash, p.push_id, a.id,
    coalesce(a.break_glass_reason, ''), p.pushed_by,
    array(select u.id::text from users u where lower(u.email) = lower(p.pushed_by)), p.submitted_at
  from approvals a join pushes p on p.push_id = a.push_id where a.break_glass and a.status = 'pushed';
