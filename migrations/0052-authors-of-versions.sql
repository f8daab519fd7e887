-- breaks older binaries: no
-- The user ids of whoever wrote a version, and of the owner of the service account that did, as it was when it was
-- written: owners of service accounts change, and accounts go.
alter table fleet_config_versions add column author_ids text[] not null default '{}';
update fleet_config_versions v set author_ids = array(
  select v.author_id union select u.owner_id::text from users u where u.id::text = v.author_id and u.owner_id is not null);
