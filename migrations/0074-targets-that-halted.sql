-- breaks older binaries: no
-- Whether somebody let the stages inside a target go on is asked at each look at campaigns, of those that are done as well.
create index campaign_targets_halted on campaign_targets (campaign_id)
  where state = 'failed' and cause = 'rollout_halted';
