-- breaks older binaries: no

-- How many workloads were how, every five minutes: what the overview draws. A week of it is kept, so that there are
-- never more than 2,016 rows.
create table fleet_health (
  at timestamptz(3) primary key,
  connected integer not null,
  degraded integer not null,
  disconnected integer not null
);
