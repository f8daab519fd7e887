-- breaks older binaries: no

-- What was asked for in Git of a workload, by which account in which owner's name, until something that came in its place runs
-- there: whoever made it has a part in what is asked for next, over hand-overs, releases and changes of name. It takes the
-- place of handed_over_at, handed_over_from and ran_config_hash, which stay for older binaries.
create table unseen_texts (
  place text not null,
  config_hash text not null,
  owner text not null,
  by_id text not null,
  noted_at timestamptz(3) not null,
  -- What was asked for last in its place; null while nothing was.
  replaced_by text,
  primary key (place, config_hash, owner, by_id)
);
create index unseen_texts_by_owner on unseen_texts (owner);
create index unseen_texts_by_text on unseen_texts (config_hash);
alter table managed_configs alter column ran_config_hash set default '';
alter table git_wishes alter column ran_config_hash set default '';

-- What is asked for now, and what of that ran last before it.
with wishes as (
  select workload_id, owner, applied_by_id, config_hash, ran_config_hash, applied_at from managed_configs
  union all select workload_id, owner, applied_by_id, config_hash, ran_config_hash, applied_at from git_wishes)
insert into unseen_texts
select workload_id, config_hash, owner, coalesce(applied_by_id::text, ''), applied_at, null from wishes
union all
select workload_id, ran_config_hash, owner, coalesce(applied_by_id::text, ''), applied_at, config_hash from wishes
  where ran_config_hash not in ('', config_hash)
on conflict do nothing;

-- What was requested in Git and neither pushed nor followed by anything of the same group or requester that was, or was taken
-- back right after: it may have been let go of, or handed over.
with asked as (
  select r.*, (
      select next.kind from pushes own join pushes next on next.workload_id = own.workload_id and next.seq > own.seq
      where own.workload_id = r.workload_id and own.approval_id = r.id order by next.seq limit 1) as next_kind
  from approvals r where starts_with(r.target_group, 'git/'))
insert into unseen_texts
select r.workload_id, r.draft_hash, coalesce(l.owner, substr(r.target_group, 5)), r.requester_id, r.created_at, null
from asked r left join commit_claims l
  on l.config_hash = r.draft_hash and l.place = r.workload_id and l.by_id = r.requester_id
where (r.status <> 'pushed' or r.next_kind in ('rollback', 'auto-rollback'))
  and not exists (select from asked n where n.workload_id = r.workload_id and n.status = 'pushed'
    and n.next_kind is distinct from 'rollback' and n.next_kind is distinct from 'auto-rollback'
    and n.created_at > r.created_at and (n.target_group = r.target_group or n.requester_id = r.requester_id))
on conflict do nothing;

-- What an older binary is asked for is noted with what it stores.
create function note_wish_unseen() returns trigger language plpgsql as $$
begin
  insert into unseen_texts (place, config_hash, owner, by_id, noted_at)
    values (new.workload_id, new.config_hash, new.owner, coalesce(new.applied_by_id::text, ''), new.applied_at)
    on conflict do nothing;
  return null;
end $$;
create trigger managed_configs_note_unseen after insert or update of config_hash on managed_configs
  for each row execute function note_wish_unseen();
create trigger git_wishes_note_unseen after insert or update of config_hash on git_wishes
  for each row execute function note_wish_unseen();
