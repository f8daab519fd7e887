-- breaks older binaries: no
--
-- Which version of each fleet config was brought to a workload, the newest one: by it Git keeps the workload. To look for it
-- among the targets of all campaigns took seconds in a large fleet, each quarter of a minute. Triggers keep it, so that it is
-- right whichever binary pushes.

create table brought_versions (
  workload_id text not null references workloads (id) on delete cascade,
  fleet_config_id uuid not null references fleet_configs (id) on delete cascade,
  number integer not null,
  primary key (workload_id, fleet_config_id)
);
create index brought_versions_of_fleet_config on brought_versions (fleet_config_id);

create function note_brought() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'campaign_targets' then
    insert into brought_versions as b (workload_id, fleet_config_id, number)
      select w.id, f.id, (c.change->>'number')::integer from campaigns c
        join workloads w on w.id = new.workload_id
        join fleet_configs f on f.id::text = c.change->>'fleet_config_id'
      where c.id = new.campaign_id and c.change->>'kind' = 'version' and c.change->>'number' is not null
      on conflict (workload_id, fleet_config_id) do update set number = excluded.number where b.number < excluded.number;
  else
    insert into brought_versions as b (workload_id, fleet_config_id, number)
      select w.id, f.id, a.number from auto_applies a
        join workloads w on w.id = new.workload_id
        join fleet_configs f on f.id = a.fleet_config_id
      where a.id = new.auto_apply_id
      on conflict (workload_id, fleet_config_id) do update set number = excluded.number where b.number < excluded.number;
  end if;
  return null;
end
$$;
create trigger campaign_targets_brought after insert or update of push_id on campaign_targets
  for each row when (new.push_id is not null) execute function note_brought();
create trigger auto_apply_targets_brought after insert or update of push_id on auto_apply_targets
  for each row execute function note_brought();

insert into brought_versions (workload_id, fleet_config_id, number)
  select w.id, f.id, max(brought.number) from (
    select t.workload_id, c.change->>'fleet_config_id' as config, (c.change->>'number')::integer as number
      from campaigns c join campaign_targets t on t.campaign_id = c.id
      where c.change->>'kind' = 'version' and c.change->>'number' is not null and t.push_id is not null
    union all
    select t.workload_id, a.fleet_config_id::text, a.number
      from auto_applies a join auto_apply_targets t on t.auto_apply_id = a.id) brought
    join workloads w on w.id = brought.workload_id join fleet_configs f on f.id::text = brought.config
  group by w.id, f.id;

create index fleet_config_versions_of_author on fleet_config_versions (author_id, created_at);
