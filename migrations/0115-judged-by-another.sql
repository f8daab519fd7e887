-- breaks older binaries: no

-- Whoever asks for a text and approves it alone, where the author counts, has shown it to nobody: whom he named beside it by
-- then made everybody an author of the same text in production. '-infinity' says, as in 0110, that it was approved and
-- nobody judged whom the account had named; they count where it had a part in the change. Whom a commit names may approve
-- what another account asks for: that is judged by somebody.
create function judged_at(r approvals) returns timestamptz language sql stable as $$
  select case when r.approved_at is null then null
    when (r.approver_id = r.requester_id or r.approver_id = any(r.author_ids)) is true and not exists (
      select from approval_votes v where v.approval_id = r.id and v.user_id <> r.requester_id
        and v.user_id <> all(r.author_ids))
    then '-infinity'::timestamptz else r.approved_at end
$$;

create or replace function note_claims_approved() returns trigger language plpgsql as $$
begin
  update commit_claims set approved_at = greatest(approved_at, judged_at(new))
    where config_hash = new.draft_hash and place = new.workload_id
      and (by_id = new.requester_id or new.target_group = 'git/' || owner);
  return null;
end $$;

create or replace function inherit_approval() returns trigger language plpgsql as $$
begin
  new.approved_at := greatest(
    (select max(judged_at(r)) from approvals r
       where r.draft_hash = new.config_hash and r.workload_id = new.place and r.requester_id = new.by_id),
    case when exists (select from commit_claims l where l.config_hash = new.config_hash and l.place = new.place
           and l.owner = new.owner and l.by_id <> new.by_id and l.approved_at is not null)
         or exists (select from approvals r where r.draft_hash = new.config_hash and r.workload_id = new.place
           and r.target_group = 'git/' || new.owner and r.approved_at is not null)
      then '-infinity'::timestamptz end);
  return new;
end $$;

-- Those that stand and have their time from such an approval.
update commit_claims l set approved_at = (
    select max(judged_at(r)) from approvals r where r.draft_hash = l.config_hash and r.workload_id = l.place
      and (r.requester_id = l.by_id or r.target_group = 'git/' || l.owner))
  where l.approved_at > '-infinity' and exists (
    select from approvals r where r.draft_hash = l.config_hash and r.workload_id = l.place
      and (r.requester_id = l.by_id or r.target_group = 'git/' || l.owner)
      and r.approved_at = l.approved_at and judged_at(r) = '-infinity');
