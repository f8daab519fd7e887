-- breaks older binaries: no
-- Which pushes of a campaign, or of what applies by itself, failed after they were said to be applied is asked each
-- second: of ten thousand the few that failed are to be found without reading the others.
create index pushes_failed_of_campaign on pushes (campaign_id) where status = 'failed' and campaign_id is not null;
create index pushes_failed_of_auto_apply on pushes (auto_apply_id) where status = 'failed' and auto_apply_id is not null;
