-- breaks older binaries: no

-- Settings that administrators change while the service runs, one row each; what is not here has its default.
create table settings (
  name text primary key,
  value text not null,
  updated_at timestamptz not null,
  updated_by text not null
);
