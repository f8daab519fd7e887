-- breaks older binaries: no

-- The draft of a request that ended goes early also where whoever asked for it approved it, and nobody else did.
drop index approvals_forgettable;
create index approvals_forgettable on approvals (requester_id, updated_at desc, id desc)
  where status in ('rejected', 'withdrawn', 'retired') and not draft_forgotten;
