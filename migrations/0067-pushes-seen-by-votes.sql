-- breaks older binaries: no

-- The newest push of its workload when an approval was given: what is pushed later overtakes it. Null for one that was
-- given before this was kept; for those the times count.
alter table approval_votes add column push_seq bigint;
