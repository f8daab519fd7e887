-- breaks older binaries: no

-- Views of the fleet that a user saved: a name, and the query of the page's address. Nobody has more than 20.
create table fleet_views (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  name text not null,
  query text not null,
  updated_at timestamptz(3) not null,
  unique (user_id, name)
);
