-- breaks older binaries: no
-- Fleet configs that are kept in Git, by whom, and what was wished for last.

create table managed_fleet_configs (
  fleet_config_id uuid primary key references fleet_configs (id) on delete cascade,
  owner text not null,
  -- SHA-256 of text, variables and values together.
  wish_hash text not null check (length(wish_hash) = 64),
  -- The version that says so.
  version integer not null,
  -- The campaign that carries it; null before there is one, and once it was forgotten.
  campaign_id text references campaigns (id) on delete set null,
  -- Empty where the pipeline did not say.
  commit_sha text not null,
  commit_author text not null,
  applied_at timestamptz(3) not null,
  applied_by text not null
);
create index managed_fleet_configs_by_owner on managed_fleet_configs (owner, fleet_config_id);
create index managed_fleet_configs_by_campaign on managed_fleet_configs (campaign_id);
