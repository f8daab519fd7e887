-- breaks older binaries: no

-- The feed of changes reads requests by when they were made.
create index approvals_by_creation on approvals (created_at desc, id desc);
