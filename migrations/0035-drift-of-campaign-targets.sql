-- breaks older binaries: no
-- Whether an instance of a target drifted when its push was started: then its drift says nothing about the campaign.
alter table campaign_targets add column was_drifted boolean not null default false;
