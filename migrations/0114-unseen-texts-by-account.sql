-- breaks older binaries: no

-- Texts that nobody brought to run (0112) are those of accounts by now, not of owners' names, which whoever comes first may
-- take: who speaks for an owner has what was asked for in its name before.
insert into unseen_texts (place, config_hash, owner, by_id, noted_at, replaced_by)
select distinct on (u.place, u.config_hash, u.owner, s.by_id) u.place, u.config_hash, u.owner, s.by_id, u.noted_at,
  u.replaced_by
from unseen_texts u join (
  select owner, applied_by_id::text as by_id from managed_configs
  union select owner, applied_by_id::text from git_wishes) s on s.owner = u.owner and s.by_id is not null
order by u.place, u.config_hash, u.owner, s.by_id, u.noted_at desc
on conflict do nothing;

-- What an older binary is asked for again is unseen again; what it hands over goes to the heir with all that was asked for
-- there in the former owner's name, be it by an account that is just removed.
create or replace function note_wish_unseen() returns trigger language plpgsql as $$
begin
  insert into unseen_texts (place, config_hash, owner, by_id, noted_at)
    values (new.workload_id, new.config_hash, new.owner, coalesce(new.applied_by_id::text, ''), new.applied_at)
    on conflict (place, config_hash, owner, by_id) do update set replaced_by = null;
  if tg_op = 'UPDATE' then
    insert into unseen_texts (place, config_hash, owner, by_id, noted_at, replaced_by)
      select place, config_hash, new.owner, coalesce(new.applied_by_id::text, ''), noted_at, replaced_by from unseen_texts
      where place = old.workload_id and owner = old.owner and by_id = coalesce(old.applied_by_id::text, '')
      on conflict do nothing;
  end if;
  return null;
end $$;
create trigger managed_configs_hand_unseen_over after update of owner, applied_by_id on managed_configs
  for each row when (new.owner <> old.owner or new.applied_by_id is distinct from old.applied_by_id)
  execute function note_wish_unseen();
create trigger git_wishes_hand_unseen_over after update of owner, applied_by_id on git_wishes
  for each row when (new.owner <> old.owner or new.applied_by_id is distinct from old.applied_by_id)
  execute function note_wish_unseen();
