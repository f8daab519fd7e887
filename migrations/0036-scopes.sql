-- breaks older binaries: yes

-- Where the role of a group holds: `{"key": "muster/env", "values": ["staging"]}` for the workloads whose trusted label
-- has one of these values, null for everywhere. A program that does not know of scopes would take a scoped role for one
-- that holds everywhere. The other roles have rights that are about no workload, or none at all.
alter table groups add column scope jsonb check (scope is null or (role = 'editor' and not is_system));
