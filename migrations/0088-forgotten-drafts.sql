-- breaks older binaries: no

-- The text of a request that ended and that nobody approved goes after a while: draft_yaml is '' then.
alter table approvals add column draft_forgotten boolean not null default false;

create index approvals_open_of_requester on approvals (requester_id) where status in ('pending', 'approved');
create index approvals_forgettable on approvals (requester_id, updated_at desc, id desc)
  where status in ('rejected', 'withdrawn', 'retired') and approved_at is null and not draft_forgotten;
create index approvals_forgettable_by_end on approvals (updated_at)
  where status in ('rejected', 'withdrawn', 'retired') and approved_at is null and not draft_forgotten;
