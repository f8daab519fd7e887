import type { WorkloadTrouble } from '../../wire/workloads.ts'
import { type TextAccess, type Why, whyOf } from './errors.ts'
import type { InstanceFault } from './instance-fault.ts'

/** Why something failed, with the part of the collector that says so. */
export type WhyWithPart = Why & Pick<WorkloadTrouble, 'component'>

/** Why, of a fault that may be that of a part of the collector. */
export function whyWith(fault: InstanceFault | null, texts: TextAccess): WhyWithPart {
  if (fault === null) return {}
  return { ...whyOf(fault, texts), ...(fault.component === '' ? {} : { component: fault.component }) }
}
