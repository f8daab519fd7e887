-- breaks older binaries: no

-- What took the place of a request that was retired: a newer request, or the push that overtook it. Both are of its
-- workload and go with it. Those that were retired until now do not say.
alter table approvals add column retired_by_request text;
alter table approvals add column retired_by_push uuid;

-- Whatever is pushed to a workload looks for its approved requests.
create index approvals_approved on approvals (workload_id) where status = 'approved';
