-- breaks older binaries: no

alter table alerts drop constraint alerts_rule_check;
alter table alerts add constraint alerts_rule_check check (
  rule in ('workload_down', 'workload_unhealthy', 'push_failed', 'rollout_halted', 'config_drift', 'version_outdated',
    'campaign_halted', 'campaign_failures', 'auto_apply_held', 'config_conflict', 'administrator_kept',
    'approval_policy_lowered', 'last_resort_login')
);
-- A sign-in kept this user an administrator against the provider's groups, since nobody else was one.
alter table users add column is_kept_administrator boolean not null default false;
create index users_kept_administrator on users (id) where is_kept_administrator;
