-- breaks older binaries: no

-- What was claimed (0108) of a text that a person approves is approved with it, whichever version of muster approves it: an
-- older one knows nothing of that, and whom the account had named by then was forgotten elsewhere.
create function note_claims_approved() returns trigger language plpgsql as $$
begin
  update commit_claims set approved_at = greatest(approved_at, new.approved_at)
    where config_hash = new.draft_hash and place = new.workload_id
      and (by_id = new.requester_id or new.target_group = 'git/' || owner);
  return null;
end $$;
create trigger approvals_approve_claims after update of approved_at on approvals
  for each row when (new.approved_at is distinct from old.approved_at) execute function note_claims_approved();

-- Whoever claims it only afterwards had no word in what was looked at, unless it was asked for by that account: '-infinity'
-- says that it was approved, and with nobody whom this account named.
create function inherit_approval() returns trigger language plpgsql as $$
begin
  new.approved_at := greatest(
    (select max(r.approved_at) from approvals r
       where r.draft_hash = new.config_hash and r.workload_id = new.place and r.requester_id = new.by_id),
    case when exists (select from commit_claims l where l.config_hash = new.config_hash and l.place = new.place
           and l.owner = new.owner and l.by_id <> new.by_id and l.approved_at is not null)
         or exists (select from approvals r where r.draft_hash = new.config_hash and r.workload_id = new.place
           and r.target_group = 'git/' || new.owner and r.approved_at is not null)
      then '-infinity'::timestamptz end);
  return new;
end $$;
create trigger commit_claims_inherit before insert on commit_claims
  for each row execute function inherit_approval();

-- Those that stand: what older versions approved since 0108, and what came with a hand-over before.
update commit_claims l set approved_at = greatest(l.approved_at, (select max(r.approved_at) from approvals r
  where r.draft_hash = l.config_hash and r.workload_id = l.place
    and (r.requester_id = l.by_id or r.target_group = 'git/' || l.owner)));
update commit_claims l set approved_at = '-infinity' where l.approved_at is null and exists (
  select from commit_claims o where o.config_hash = l.config_hash and o.place = l.place and o.owner = l.owner
    and o.approved_at is not null);
