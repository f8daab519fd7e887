-- breaks older binaries: no

-- Which account named an author of a text; '' where that is not known, as of all that were noted before.
alter table commit_authors add column by_id text not null default '';
alter table commit_authors drop constraint commit_authors_pkey;
alter table commit_authors add primary key (config_hash, name, by_id);

-- Where an account that names authors asked for their text in Git: of a workload, or of a fleet config. What it says of a
-- text counts there, and everywhere once its wish was approved.
create table commit_claims (
  config_hash text not null check (length(config_hash) = 64),
  by_id text not null,
  place text not null,
  owner text not null,
  -- Since when that was asked for in this owner's name, by whatever account.
  since timestamptz(3) not null,
  -- The text ran there while the owner kept the place.
  has_run boolean not null,
  primary key (config_hash, by_id, place)
);
create index commit_claims_by_time on commit_claims (since);
create index commit_claims_by_owner on commit_claims (owner);
