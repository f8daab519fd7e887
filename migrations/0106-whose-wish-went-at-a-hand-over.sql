-- breaks older binaries: no

-- The owner whose own wish for a workload went when it was handed over to the one that kept the workload already: whoever
-- made what it asked for counts as an author of what the heir asks for next.
alter table managed_configs add column handed_over_from text;
alter table git_wishes add column handed_over_from text;
