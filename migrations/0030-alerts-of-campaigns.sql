-- breaks older binaries: no

alter table alerts drop constraint alerts_rule_check;
alter table alerts add constraint alerts_rule_check check (
  rule in ('workload_down', 'workload_unhealthy', 'push_failed', 'config_drift', 'version_outdated',
    'campaign_halted', 'auto_apply_held', 'config_conflict')
);
-- What an alert is about that is about no workload: a campaign, or a fleet config.
alter table alerts alter column workload_id drop not null;
alter table alerts add column topic text not null default '';
alter table alerts add constraint alerts_about check ((workload_id is null) = (topic <> ''));
create unique index alerts_current_topic on alerts (topic, rule)
  where workload_id is null and (resolved_at is null or quiet);
