-- breaks older binaries: no
--
-- The first version that Git asked for since it keeps the fleet config; null where an older binary took it there, which
-- counts every version.

alter table managed_fleet_configs add column first_version integer;
