-- breaks older binaries: no
-- Why the config failed that an automatic rollback took back: lists say it beside the workload, without reading the
-- failed push. Rollbacks from before do not have it.
alter table pushes add column failed_error jsonb;
