-- breaks older binaries: no

alter table alerts drop constraint alerts_rule_check;
alter table alerts add constraint alerts_rule_check check (
  rule in ('workload_down', 'workload_unhealthy', 'push_failed', 'rollout_halted', 'config_drift', 'version_outdated',
    'campaign_halted', 'campaign_failures', 'auto_apply_held', 'config_conflict')
);
-- Which campaigns have failures is asked at every look at the alerts.
create index campaign_targets_failed on campaign_targets (campaign_id) where state in ('failed', 'rollback_failed');
