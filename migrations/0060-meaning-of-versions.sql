-- breaks older binaries: no

-- What a version of a fleet config means: a hash of what decides what it pushes, whatever its comments, its layout and the
-- descriptions of its variables. Null for versions stored before; these never change, and count by text, variables and
-- values.
alter table fleet_config_versions add column meaning text;
