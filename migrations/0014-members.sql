-- breaks older binaries: no

-- The processes that run on this database, each renewed every second by the database's own clock. The owner is the
-- one whose owned_epoch is the epoch of process_epoch; linked_epoch is that of the owner that a member has a link to.
create table members (
  id text primary key,
  address text not null,
  version text not null,
  link_version integer not null,
  started_at timestamptz(3) not null,
  seen_at timestamptz(3) not null,
  owned_epoch bigint,
  owned_since timestamptz(3),
  linked_epoch bigint
);
