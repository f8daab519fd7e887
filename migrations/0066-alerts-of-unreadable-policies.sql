-- breaks older binaries: no

alter table alerts drop constraint alerts_rule_check;
alter table alerts add constraint alerts_rule_check check (
  rule in ('workload_down', 'workload_unhealthy', 'push_failed', 'rollout_halted', 'config_drift', 'version_outdated',
    'campaign_halted', 'campaign_failures', 'auto_apply_held', 'config_conflict', 'administrator_kept',
    'approval_policy_lowered', 'approval_policy_unreadable', 'last_resort_login')
);
