-- breaks older binaries: no
-- Who wrote a change, as it was when it was written: owners of service accounts change, and accounts go.

-- The user ids of whoever asked, and of the owner of the service account that did.
alter table approvals add column author_ids text[] not null default '{}';
update approvals a set author_ids = array(
  select a.requester_id union select u.owner_id::text from users u where u.id::text = a.requester_id and u.owner_id is not null);

-- Looked for beside the requests of the same text.
create index fleet_config_versions_by_hash on fleet_config_versions (hash);

-- The same of whoever created, changed or requested a campaign.
alter table campaigns add column author_ids text[] not null default '{}';
update campaigns c set author_ids = array(
  select w.id from (
    select u.id::text as id from users u where lower(u.email) = lower(c.created_by) or u.id::text = c.requested_by_id
    union select u.owner_id::text from users u
      where (lower(u.email) = lower(c.created_by) or u.id::text = c.requested_by_id) and u.owner_id is not null) w);
