-- breaks older binaries: no

-- Whom Git named for the text of a version with values of its own: 0087 took those alone that were noted since the version
-- was made, but who had been noted for that text before kept the earlier time. So all of them count for what may wait to be
-- approved: what Git asks for now, what a campaign that has not ended carries, and the newest of what Git let go of before
-- anything brought it to run. One too many counts until the next version.
insert into commit_authors (config_hash, name, noted_at, said)
select v.content_hash, c.name, c.noted_at, c.said
from fleet_config_versions v
  join commit_authors c on c.config_hash = v.hash
  left join managed_fleet_configs m on m.fleet_config_id = v.fleet_config_id
where v.content_hash <> v.hash and (
  v.number = m.version
  or exists (select from campaigns k
    where k.status not in ('done', 'aborted', 'rolled_back', 'rejected', 'withdrawn', 'expired')
      and k.change->>'fleet_config_id' = v.fleet_config_id::text and k.change->>'number' = v.number::text)
  or m.version is null
    and v.number = (select max(n.number) from fleet_config_versions n join commit_authors also on also.config_hash = n.hash
      where n.fleet_config_id = v.fleet_config_id)
    and not exists (select from campaigns k where k.status = 'done'
      and k.change->>'fleet_config_id' = v.fleet_config_id::text and k.change->>'number' = v.number::text))
on conflict do nothing;
