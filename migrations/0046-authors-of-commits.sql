-- breaks older binaries: no

-- Whom commits name that brought a text from Git: their authors, committers and second authors, each by the forms in
-- which a user may be found, in lower case. They stay with the text, for whoever wrote a text is an author of it also
-- when Git holds another one by then, or lets go of the workload.
create table commit_authors (
  config_hash text not null check (length(config_hash) = 64),
  name text not null check (name <> ''),
  noted_at timestamptz(3) not null,
  primary key (config_hash, name)
);
create index commit_authors_by_time on commit_authors (noted_at);

insert into commit_authors (config_hash, name, noted_at)
select c.hash, lower(btrim(form.name)), max(c.noted_at)
from (
  select config_hash as hash, commit_author as author, applied_at as noted_at from managed_configs
  union all select hash, commit_author, created_at from fleet_config_versions
  union all select v.hash, m.commit_author, m.applied_at from managed_fleet_configs m
    join fleet_config_versions v on v.fleet_config_id = m.fleet_config_id and v.number = m.version) c
  cross join lateral (values (substring(c.author from '<([^<>]+)>')), (regexp_replace(c.author, '<.*$', ''))) form (name)
where length(c.hash) = 64 and btrim(coalesce(form.name, '')) <> ''
group by 1, 2;
