import { isSelected, type SelectableWorkload } from '../selectors/selector.ts'
import type { StoredFleetConfig } from '../store/fleet-configs.ts'

/** What decides which fleet config a workload is under. */
export type Candidate = Pick<StoredFleetConfig, 'id' | 'selector' | 'priority' | 'createdAt'>

/** Under which fleet config a workload is. */
export interface Membership {
  /** Null for none. */
  configId: string | null
  /** Ids of other fleet configs that select the workload with the same priority. */
  rivals: string[]
}

/**
 * Under which fleet config a workload is: of those that select it the one with the highest priority. Where several
 * have that, the workload stays where it was (`formerId`), else the oldest counts.
 */
export function judgeMembership(
  workload: SelectableWorkload,
  candidates: readonly Candidate[],
  formerId: string | null,
): Membership {
  const selecting = candidates.filter(({ selector }) => isSelected(workload, selector))
  const highest = Math.max(...selecting.map(({ priority }) => priority))
  const first = selecting
    .filter(({ priority }) => priority === highest)
    .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1))
  const kept = first.find(({ id }) => id === formerId) ?? first[0]
  return {
    configId: kept?.id ?? null,
    rivals: first.filter((one) => one !== kept).map(({ id }) => id),
  }
}
