-- breaks older binaries: no
--
-- What note_brought (0126) does, with its insert said once for both tables.

create or replace function note_brought() returns trigger language plpgsql as $$
declare
  config_id text;
  brought integer;
begin
  if tg_table_name = 'campaign_targets' then
    select c.change->>'fleet_config_id', (c.change->>'number')::integer into config_id, brought
      from campaigns c where c.id = new.campaign_id and c.change->>'kind' = 'version';
  else
    select a.fleet_config_id::text, a.number into config_id, brought from auto_applies a where a.id = new.auto_apply_id;
  end if;
  insert into brought_versions as b (workload_id, fleet_config_id, number)
    select w.id, f.id, brought from workloads w, fleet_configs f
    where w.id = new.workload_id and f.id::text = config_id and brought is not null
    on conflict (workload_id, fleet_config_id) do update set number = excluded.number where b.number < excluded.number;
  return null;
end
$$;
