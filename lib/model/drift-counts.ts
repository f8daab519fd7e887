import type { DriftItem } from '../wire/drift.ts'

/**
 * Whether a workload counts as drifted, as the fleet's list counts it: instances that are there did not take its config, or
 * somebody changed that on their hosts. An alert of that stays open while none is there; it says how it was.
 */
export const countsAsDrifted = ({ drift_reasons: reasons = [] }: Pick<DriftItem, 'drift_reasons'>): boolean =>
  reasons.includes('drifted') || reasons.includes('altered')
