-- breaks older binaries: no

-- Who made a push: a campaign, by its start or its roll-back, or a version that applied by itself. The feed of changes
-- tells all of them by one entry each, and is not to pass over every one of their pushes. No keys: a push is evidence.
alter table pushes
  add column campaign_id text,
  add column auto_apply_id text;

update pushes p set campaign_id = t.campaign_id from campaign_targets t where p.push_id = t.push_id;
update pushes p set campaign_id = t.campaign_id from campaign_targets t where p.push_id = t.rollback_push_id;
update pushes p set auto_apply_id = t.auto_apply_id from auto_apply_targets t where p.push_id = t.push_id;
update pushes p set campaign_id = t.rolled_back_by from auto_apply_targets t where p.push_id = t.rollback_push_id;

-- In the order of the feed.
create index pushes_told on pushes (submitted_at desc, (push_id::text collate "C") desc)
  where campaign_id is null and auto_apply_id is null;
create index pushes_of_campaign on pushes (campaign_id, submitted_at desc) where campaign_id is not null;
create index pushes_of_auto_apply on pushes (auto_apply_id, submitted_at desc) where auto_apply_id is not null;
