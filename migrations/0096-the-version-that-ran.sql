-- breaks older binaries: no

-- The version that ran last of what Git asked for of a fleet config: where it was taken back since, whoever made it has a
-- part in what is asked for next. Null where that is not known.
alter table managed_fleet_configs add column ran_version integer;
