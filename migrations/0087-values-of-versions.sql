-- breaks older binaries: no

-- What a version says in all: the hash of its text, or, where it has variables or values of its own, of these with it. Who
-- wrote, asked for or committed one that differs in its values alone is no author of the other.
create function hash_version(hash text, variables jsonb, value_table jsonb) returns text language plpgsql immutable as $$
begin
  if variables = '[]' and value_table is null then
    return hash;
  end if;
  return encode(sha256(convert_to(hash || variables::text || coalesce(value_table::text, ''), 'UTF8')), 'hex');
end
$$;
alter table fleet_config_versions
  add column content_hash text generated always as (hash_version(hash, variables, value_table)) stored;
create index fleet_config_versions_by_content on fleet_config_versions (content_hash);

-- Whom Git named since the version was made that it asks for now. Those of the ones before it are not known apart.
insert into commit_authors (config_hash, name, noted_at)
select v.content_hash, c.name, c.noted_at
from managed_fleet_configs m
  join fleet_config_versions v on v.fleet_config_id = m.fleet_config_id and v.number = m.version
  join commit_authors c on c.config_hash = v.hash and c.noted_at >= v.created_at
where v.content_hash <> v.hash
on conflict do nothing;
