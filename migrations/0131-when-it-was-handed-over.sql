-- breaks older binaries: no

-- When a version, or a request, that Git asked for was handed over to another account: whom its own account names of it only
-- then does not count for it, whatever Git asks for by that time. Null where it was not. Of what stands, what was said by now
-- counts.
alter table fleet_config_versions add column handed_at timestamptz(3);
alter table approvals add column handed_at timestamptz(3);

update fleet_config_versions v set handed_at = now() from managed_fleet_configs m
  where m.fleet_config_id = v.fleet_config_id and m.version = v.number and m.applied_by_id::text is distinct from v.author_id;
update approvals r set handed_at = now()
  from (select approval_id, applied_by_id from managed_configs union all select approval_id, applied_by_id from git_wishes) m
  where m.approval_id = r.id and m.applied_by_id::text is distinct from r.requester_id;
