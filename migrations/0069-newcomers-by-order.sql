-- breaks older binaries: no

-- The order in which workloads came. A label rule by which approvals ask less of newcomers keeps the stricter rule for
-- those who came after the last one that it was looked at with (`newcomers_after`): a clock may be put back. Null for
-- workloads that came before this was kept, and of reviews that are older; for those the times count.
create sequence workload_comings;
alter table workloads add column coming bigint;
alter table workloads alter column coming set default nextval('workload_comings');
alter sequence workload_comings owned by workloads.coming;
alter table reviews add column newcomers_after bigint;

-- Since when a review keeps classes, by the database's clock: the day of it must not end early because the clock of one
-- process jumps.
alter table reviews add column kept_since timestamptz(3);
update reviews set kept_since = least(done_at, clock_timestamp());
alter table reviews alter column kept_since set default clock_timestamp();
alter table reviews alter column kept_since set not null;
