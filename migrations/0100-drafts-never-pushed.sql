-- breaks older binaries: no

-- The draft of a request that ended goes after a while also where somebody approved it, and nobody pushed it.
drop index approvals_forgettable_by_end;
create index approvals_forgettable_by_end on approvals (updated_at)
  where status in ('rejected', 'withdrawn', 'retired') and not draft_forgotten;
