-- breaks older binaries: no

-- Who made a token, and therefore saw it: another than its holder where that is a service account. No foreign key, since
-- whoever made it is remembered when he is gone. Null where the audit log does not say.
alter table api_tokens add column if not exists made_by_id uuid, add column if not exists made_by text;

update api_tokens t set made_by_id = e.user_id::uuid, made_by = e.email
from audit_events e
where e.action = 'token.create' and e.resource = 'token' and e.resource_id = t.id::text
  and e.user_id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';
