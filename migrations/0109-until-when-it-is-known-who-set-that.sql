-- breaks older binaries: no

-- The edition of a campaign of which `set_by_ids` (0107) says who set what it carries: an older binary edits one and leaves
-- both as they were. Null, or another edition than the campaign's: an older binary made or edited it last, or it is from
-- before, and everybody who made or changed it counts. Whoever asked for it counts in any case.
alter table campaigns add column set_edition integer;
