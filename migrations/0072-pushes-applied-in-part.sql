-- breaks older binaries: no
-- Whether a campaign that is done reached all instances is asked for each row of the list: of ten thousand pushes the few
-- that some instances failed or did not answer are to be found without reading the others.
create index pushes_in_part_of_campaign on pushes (campaign_id)
  where campaign_id is not null and failed_count + straggler_count > 0;
