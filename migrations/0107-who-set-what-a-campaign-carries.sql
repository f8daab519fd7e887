-- breaks older binaries: no

-- Who set what a campaign carries, or asked for it: they count as authors of the text elsewhere. Whoever had made the draft
-- into which somebody else put that text counts for the campaign itself alone. Null of those from before and of older
-- binaries: then it is everybody who made or changed it.
alter table campaigns add column set_by_ids text[];
