-- breaks older binaries: no

-- When what an account asked for in Git of a workload was last approved by a person, the owner's request for it or one of its
-- own by hand: whom it had named by then counts everywhere. The request may be removed with its workload, and a hand-over
-- renames the owner. Null where nobody approved it, and of fleet configs, whose campaigns say so. An approval by an older
-- binary leaves null until the account names somebody of that text again; until then it counts as approved by nobody.
alter table commit_claims add column approved_at timestamptz(3);
update commit_claims l set approved_at = (select max(r.approved_at) from approvals r
  where r.draft_hash = l.config_hash and r.workload_id = l.place
    and (r.requester_id = l.by_id or r.target_group = 'git/' || l.owner));
