-- breaks older binaries: no
-- Since when a campaign is being rolled back: who is away is waited for from then on.
alter table campaigns add column roll_back_started_at timestamptz;
update campaigns set roll_back_started_at = updated_at where status = 'rolling_back';
