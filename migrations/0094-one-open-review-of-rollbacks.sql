-- breaks older binaries: no

-- Of a workload the last rollback is looked at, as its last pin is, with everybody who had a part in those before it, and
-- since when the first one waits.
with waiting as (
  select id, workload_id, row_number() over (partition by workload_id order by done_at desc, id desc) as nth
  from reviews where kind = 'rollback' and reviewed_at is null
), together as (
  select r.workload_id, min(r.done_at) as done_at, string_agg(distinct r.done_by, ', ') as done_by,
    array_remove(array_agg(distinct author), null) as author_ids
  from reviews r left join lateral unnest(r.author_ids) as author on true
  where r.kind = 'rollback' and r.reviewed_at is null group by r.workload_id having count(distinct r.id) > 1
), gone as (
  delete from reviews r using waiting w where r.id = w.id and w.nth > 1
)
update reviews r set author_ids = t.author_ids, done_by = t.done_by, done_at = t.done_at
from waiting w join together t on t.workload_id = w.workload_id where r.id = w.id and w.nth = 1;
drop index reviews_one_open;
create unique index reviews_one_open on reviews (workload_id, kind)
  where reviewed_at is null and kind in ('known_good', 'labels', 'rollback');
