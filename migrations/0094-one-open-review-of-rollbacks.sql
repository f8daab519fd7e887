-- breaks older binaries: no

-- Of a workload the last rollback is looked at, as its last pin is: each one before it was overtaken.
delete from reviews r where r.kind = 'rollback' and r.reviewed_at is null and exists (
  select from reviews newer where newer.workload_id = r.workload_id and newer.kind = 'rollback' and newer.reviewed_at is null
    and (newer.done_at, newer.id) > (r.done_at, r.id));
drop index reviews_one_open;
create unique index reviews_one_open on reviews (workload_id, kind)
  where reviewed_at is null and kind in ('known_good', 'labels', 'rollback');
