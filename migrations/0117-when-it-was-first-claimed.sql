-- breaks older binaries: no

-- When an account first asked in Git for a text at a place: what was approved there before was judged without its word, though
-- it speaks by now for what was asked for then (`since`). Null where it was noted before this, or by an older binary: then
-- it counts from `since` on, as before.
alter table commit_claims add column claimed_at timestamptz(3);

-- Claims of a place that is removed, and versions by the id that requests and campaigns carry as a text.
create index commit_claims_by_place on commit_claims (place);
create index fleet_config_versions_by_id_as_text on fleet_config_versions ((fleet_config_id::text), number);
