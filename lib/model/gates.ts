/** Feature gates: an endpoint that names one answers 403 `feature_disabled` unless the edition enables it. */
export const GATES = [
  'config_safety.approvals',
  'config_safety.campaigns',
  'config_safety.canary_rollout',
  'config_safety.drift_dashboard',
  'config_safety.guided_rollback',
  'config_safety.policy_preview',
  'config_safety.scoped_push',
  'config_safety.version_intelligence',
] as const

/** The name of a feature gate. */
export type Gate = (typeof GATES)[number]
