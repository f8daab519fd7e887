-- breaks older binaries: no

-- The janitor removes resolved alerts after their days, the oldest first.
create index alerts_resolved on alerts (resolved_at) where resolved_at is not null and not quiet;
