-- breaks older binaries: no

-- What is asked for in Git of a fleet config is kept as of a workload (0112), by account, at a place of its own: the name
-- that it has in Git, by which it is found again after it was removed or renamed. Nothing reads or writes
-- managed_fleet_configs.ran_version any more; it stays for older binaries.
insert into commit_claims (config_hash, by_id, place, since)
select l.config_hash, l.by_id, 'fleet:' || f.name, l.since
from commit_claims l join fleet_configs f on f.id::text = l.place
on conflict do nothing;

-- What is asked for now, and what of that ran last before it.
insert into unseen_texts (place, config_hash, owner, by_id, noted_at, replaced_by)
select 'fleet:' || f.name, v.content_hash, m.owner, coalesce(m.applied_by_id::text, ''), m.applied_at, null
from managed_fleet_configs m join fleet_configs f on f.id = m.fleet_config_id
  join fleet_config_versions v on v.fleet_config_id = m.fleet_config_id and v.number = m.version
union
select 'fleet:' || f.name, v.content_hash, m.owner, coalesce(m.applied_by_id::text, ''), m.applied_at, n.content_hash
from managed_fleet_configs m join fleet_configs f on f.id = m.fleet_config_id
  join fleet_config_versions v on v.fleet_config_id = m.fleet_config_id and v.number = m.ran_version
  join fleet_config_versions n on n.fleet_config_id = m.fleet_config_id and n.number = m.version
where v.content_hash <> n.content_hash
on conflict do nothing;

-- What an account asked for since a campaign was done: it may have been let go of, or handed over.
insert into unseen_texts (place, config_hash, owner, by_id, noted_at, replaced_by)
select distinct on (f.name, l.config_hash, l.by_id)
  'fleet:' || f.name, l.config_hash, coalesce(m.owner, ''), l.by_id, l.since, null
from commit_claims l join fleet_configs f on f.id::text = l.place
  join fleet_config_versions v on v.fleet_config_id = f.id and v.content_hash = l.config_hash
  left join managed_fleet_configs m on m.fleet_config_id = f.id
where not exists (
  select from campaigns c where c.status = 'done' and c.change->>'kind' = 'version'
    and c.change->>'fleet_config_id' = f.id::text and (c.change->>'number')::integer >= v.number)
on conflict do nothing;

-- Of what was handed over by then the heir's account has whom the former one had named of it.
insert into commit_authors (config_hash, name, noted_at, said, by_id)
select v.content_hash, c.name, now(), max(c.said), m.applied_by_id::text
from managed_fleet_configs m
  join fleet_config_versions v on v.fleet_config_id = m.fleet_config_id and v.number in (m.version, m.ran_version)
  join commit_authors c on c.config_hash = v.content_hash and c.by_id = v.author_id
where v.author_id <> m.applied_by_id::text
group by v.content_hash, c.name, m.applied_by_id
on conflict do nothing;

-- What an older binary is asked for is noted with what it stores, and so is what it hands over; of a fleet config also that
-- it was asked for under its name.
create or replace function note_wish_unseen() returns trigger language plpgsql as $$
declare
  at_place text;
  asked_hash text;
begin
  if tg_table_name = 'managed_fleet_configs' then
    select 'fleet:' || f.name, v.content_hash into at_place, asked_hash
      from fleet_configs f join fleet_config_versions v on v.fleet_config_id = f.id and v.number = new.version
      where f.id = new.fleet_config_id;
    if at_place is null then
      return null;
    end if;
    if new.applied_by_id is not null
        and (tg_op = 'INSERT' or (new.owner, new.applied_by_id) is not distinct from (old.owner, old.applied_by_id)) then
      insert into commit_claims (config_hash, by_id, place, since)
        values (asked_hash, new.applied_by_id::text, at_place, new.applied_at) on conflict do nothing;
    end if;
  else
    at_place := new.workload_id;
    asked_hash := new.config_hash;
  end if;
  insert into unseen_texts (place, config_hash, owner, by_id, noted_at)
    values (at_place, asked_hash, new.owner, coalesce(new.applied_by_id::text, ''), new.applied_at)
    on conflict (place, config_hash, owner, by_id) do update set replaced_by = null;
  if tg_op = 'UPDATE' and new.applied_by_id is not null
      and (new.owner, new.applied_by_id) is distinct from (old.owner, old.applied_by_id) then
    with handed as (
      select * from unseen_texts u where place = at_place and owner = old.owner
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
create trigger managed_fleet_configs_note_unseen after insert or update of version on managed_fleet_configs
  for each row execute function note_wish_unseen();
create trigger managed_fleet_configs_hand_unseen_over after update of owner, applied_by_id on managed_fleet_configs
  for each row when (new.owner <> old.owner or new.applied_by_id is distinct from old.applied_by_id)
  execute function note_wish_unseen();
