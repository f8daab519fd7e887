-- breaks older binaries: no

-- The four example groups of 0003 belong to the demo, which makes them itself. A new installation, where nobody can
-- have signed in yet, starts without them. Where somebody could, they stay, edited or not: reports, scripts and
-- people may name them by their ids, and whoever does not want them can delete them.
delete from push_groups where not exists (select 1 from users) and not exists (select 1 from workloads);
