import type { DriftItem } from '../wire/drift.ts'

/** Whether a workload counts as drifted: it did not take its config, or somebody changed that on a host. */
export const countsAsDrifted = ({
  drift_reasons: reasons = [],
  has_config_drift_alert: hasAlert,
}: Pick<DriftItem, 'drift_reasons' | 'has_config_drift_alert'>): boolean =>
  hasAlert || reasons.includes('drifted') || reasons.includes('altered')
