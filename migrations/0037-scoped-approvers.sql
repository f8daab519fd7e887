-- breaks older binaries: no

-- Where a second person could once approve, within scopes only: `[{"key": "muster/env", "values": ["staging"]}]`, one row
-- for each list of scopes that somebody had. The only approver's own approval counts there no more, and elsewhere it does
-- as before. `approver_history` keeps whether two could everywhere.
create table approver_scopes (scopes jsonb primary key);
