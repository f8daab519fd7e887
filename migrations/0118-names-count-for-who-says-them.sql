-- breaks older binaries: no

-- A name counts for whoever says it, and for what others ask for where that account had asked in Git for the same text
-- before: what was approved or ran elsewhere makes no difference any more. Nothing reads or writes these columns from now on;
-- they stay for older binaries, which may still be running: of commit_claims owner, has_run, run_at, approved_at and
-- claimed_at, of campaigns set_at.
alter table commit_claims alter column owner set default '';
alter table commit_claims alter column has_run set default false;
drop trigger approvals_approve_claims on approvals;
drop trigger commit_claims_inherit on commit_claims;
drop function note_claims_approved();
drop function inherit_approval();
drop function judged_at(approvals);
drop index commit_claims_by_owner;
drop index commit_claims_by_place;

-- Since when an account asks for a text by itself: it was when anybody first did in its owner's name.
update commit_claims set since = claimed_at where claimed_at > since;

-- What was handed over is by now with the heir's account together with whom the former ones had named of it, whom the owner's
-- name told before; accounts of which nothing was known are those who had asked for it in that name.
insert into unseen_texts (place, config_hash, owner, by_id, noted_at, replaced_by)
select u.place, u.config_hash, u.owner, l.by_id, u.noted_at, u.replaced_by
from unseen_texts u join commit_claims l using (place, config_hash, owner) where u.by_id = ''
on conflict do nothing;
insert into commit_authors (config_hash, name, noted_at, said, by_id)
select u.config_hash, c.name, now(), max(c.said), u.by_id
from unseen_texts u join commit_claims l using (place, config_hash, owner)
  join commit_authors c on c.config_hash = u.config_hash and c.by_id = l.by_id
where u.by_id not in ('', l.by_id)
group by u.config_hash, c.name, u.by_id
on conflict do nothing;

-- The same of what an older binary hands over.
create or replace function note_wish_unseen() returns trigger language plpgsql as $$
begin
  insert into unseen_texts (place, config_hash, owner, by_id, noted_at)
    values (new.workload_id, new.config_hash, new.owner, coalesce(new.applied_by_id::text, ''), new.applied_at)
    on conflict (place, config_hash, owner, by_id) do update set replaced_by = null;
  if tg_op = 'UPDATE' and new.applied_by_id is not null
      and (new.owner, new.applied_by_id) is distinct from (old.owner, old.applied_by_id) then
    with handed as (
      select * from unseen_texts u where place = old.workload_id and owner = old.owner
        and (by_id = old.applied_by_id::text or not exists (select from users a where a.id::text = u.by_id))),
    named as (
      insert into commit_authors (config_hash, name, noted_at, said, by_id)
      select config_hash, c.name, now(), max(c.said), new.applied_by_id::text
      from handed join commit_authors c using (config_hash, by_id)
      where by_id <> '' group by config_hash, c.name order by config_hash, c.name on conflict do nothing)
    insert into unseen_texts (place, config_hash, owner, by_id, noted_at, replaced_by)
      select distinct on (config_hash) place, config_hash, new.owner, new.applied_by_id::text, noted_at, replaced_by
      from handed order by config_hash, noted_at desc
      on conflict do nothing;
  end if;
  return null;
end $$;
