-- breaks older binaries: no

-- When what a campaign carries, or to which workloads, was last set: whoever had asked for that in Git by then has authors
-- who count. Null of those from before and of older binaries: then it is when the campaign was made, or at the latest when
-- one that was edited was last changed before it was asked for.
alter table campaigns add column set_at timestamptz;
update campaigns set set_at = least(updated_at, requested_at) where edition > 0;
