-- breaks older binaries: no

-- A target that was there as its campaign began, and away as its turn came: since when it is waited for. Null for one
-- that was away from the start.
alter table campaign_targets add column away_since timestamptz(3);
