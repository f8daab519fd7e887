-- breaks older binaries: no

-- When what an account asked for in Git was first seen to run where Git keeps it: of whom it names later, its word counts
-- for what it has a part in, and no longer everywhere. Of what runs already, whom it has named by now count. Null where it
-- runs: an older binary noted it.
alter table commit_claims add column run_at timestamptz;
update commit_claims l set run_at = coalesce(
    (select max(c.noted_at) from commit_authors c where c.config_hash = l.config_hash and c.by_id = l.by_id), l.since)
  where l.has_run;
