-- breaks older binaries: no
--
-- By which token of its account a campaign was ended or is taken back, null where somebody was signed in: a token brings back
-- only what was approved by as much as is asked now. Null as well where an older binary did it.

alter table campaigns add column closed_by_token text;
