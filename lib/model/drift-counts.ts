import type { DriftItem } from '../wire/drift.ts'

/**
 * Whether a workload drifts now, as the fleet's list counts it: instances that are there did not take its config, or
 * somebody changed that on their hosts.
 */
export const driftsNow = ({ drift_reasons: reasons = [] }: Pick<DriftItem, 'drift_reasons'>): boolean =>
  reasons.includes('drifted') || reasons.includes('altered')

/** Whether the API counts a workload as drifted: also as long as an alert of that is open, while none of it is there. */
export const countsAsDrifted = (item: Pick<DriftItem, 'drift_reasons' | 'has_config_drift_alert'>): boolean =>
  item.has_config_drift_alert || driftsNow(item)
