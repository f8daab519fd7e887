-- breaks older binaries: no

-- Of a workload the last rollback is looked at, as its last pin is, with everybody who had a part in those before it, and
-- since when the first one waits.
update reviews r set author_ids = former.author_ids, done_by = former.done_by
from (select open.workload_id, array_agg(distinct author) as author_ids, string_agg(distinct open.done_by, ', ') as done_by
    from reviews open, unnest(open.author_ids) as author
    where open.kind = 'rollback' and open.reviewed_at is null
    group by open.workload_id having count(distinct open.id) > 1) as former
where r.kind = 'rollback' and r.reviewed_at is null and r.workload_id = former.workload_id;
delete from reviews r where r.kind = 'rollback' and r.reviewed_at is null and exists (
  select from reviews newer where newer.workload_id = r.workload_id and newer.kind = 'rollback' and newer.reviewed_at is null
    and (newer.done_at, newer.id) > (r.done_at, r.id));
drop index reviews_one_open;
create unique index reviews_one_open on reviews (workload_id, kind)
  where reviewed_at is null and kind in ('known_good', 'labels', 'rollback');
