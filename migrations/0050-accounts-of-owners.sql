-- breaks older binaries: no
-- The account that speaks for an owner in Git, by its id: a name may come to be somebody else's. Null where it was
-- removed, or cannot be told of what was kept before; then a person who may break the glass lets go of what it kept.
alter table managed_configs add column applied_by_id uuid references users (id) on delete set null;
alter table managed_fleet_configs add column applied_by_id uuid references users (id) on delete set null;

create temporary table accounts_of_names on commit drop as
  select email, min(id::text)::uuid as id, min(created_at) as created_at from users group by email having count(*) = 1;
update managed_configs m set applied_by_id = a.id from accounts_of_names a
  where a.email = m.applied_by and a.created_at <= m.applied_at;
update managed_fleet_configs m set applied_by_id = a.id from accounts_of_names a
  where a.email = m.applied_by and a.created_at <= m.applied_at;

create index managed_configs_by_account on managed_configs (applied_by_id);
create index managed_fleet_configs_by_account on managed_fleet_configs (applied_by_id);
