-- breaks older binaries: no

-- Who made a campaign, as an account: two people of an identity provider may have one e-mail. Of old ones it is whoever
-- has that e-mail now and is one of the authors; where there is none, or more than one, nobody counts as the maker.
alter table campaigns add column created_by_id text not null default '';
update campaigns c set created_by_id = u.id
from (
  select c.id as campaign_id, min(u.id::text) as id
  from campaigns c join users u on u.email = c.created_by and u.id::text = any(c.author_ids)
  group by c.id having count(*) = 1) u
where u.campaign_id = c.id;
