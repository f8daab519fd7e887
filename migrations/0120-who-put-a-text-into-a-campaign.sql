-- breaks older binaries: no

-- Who put the text that a campaign carries there, whose word it is by whom that was made: not whoever only chose other
-- workloads for it. It holds while set_edition is the edition; null where it is not known.
alter table campaigns add column text_by_id text;
