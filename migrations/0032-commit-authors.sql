-- breaks older binaries: no

-- Whom the commit names that a version came from; empty where it came from no commit, or the pipeline did not say. It
-- stays with the version, for whoever wrote a text is an author of it also when Git holds another one by then.
alter table fleet_config_versions add column commit_author text not null default '';
