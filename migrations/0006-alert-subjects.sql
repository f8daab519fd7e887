-- breaks older binaries: no

alter table alerts drop constraint alerts_rule_check;
alter table alerts add constraint alerts_rule_check check (
  rule in ('workload_down', 'workload_unhealthy', 'push_failed', 'config_drift', 'version_outdated')
);
-- What it is about, where one cause may follow another without a gap: the push that failed.
alter table alerts add column subject text not null default '';
-- What the message says, for whoever says it in other words.
alter table alerts add column details jsonb not null default '{}';
