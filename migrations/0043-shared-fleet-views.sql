-- breaks older binaries: no

-- A view of the fleet that everybody sees, not only whoever saved it.
alter table fleet_views add column is_shared boolean not null default false;
create index fleet_views_shared on fleet_views (is_shared) where is_shared;
