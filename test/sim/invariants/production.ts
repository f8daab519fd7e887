import type { Workload } from '../../../lib/fleet/state/model.ts'

/** Whether a workload is production by the labels that the operators of a world give. */
export const classOf = ({ trustedLabels }: Pick<Workload, 'trustedLabels'>): 'production' | 'other' =>
  trustedLabels['environment'] === 'production' ? 'production' : 'other'
