import { type Condition, openSelector, type SelectableWorkload } from '../selectors/selector.ts'
import type { StoredFleetConfig } from '../store/fleet-configs.ts'

/** What decides which fleet config a workload is under. */
export type Candidate = Pick<StoredFleetConfig, 'id' | 'selector' | 'priority' | 'createdAt'>

/** A candidate whose selector was read. */
export interface OpenCandidate extends Candidate {
  selects: Condition
}

/** Read the selectors of fleet configs once, for many workloads. */
export const openCandidates = (candidates: readonly Candidate[]): OpenCandidate[] =>
  candidates.map(({ id, selector, priority, createdAt }) => {
    return { id, selector, priority, createdAt, selects: openSelector(selector) }
  })

/** Under which fleet config a workload is. */
export interface Membership {
  /** Null for none. */
  configId: string | null
  /** Ids of other fleet configs that select the workload with the same priority. */
  rivals: string[]
}

/** Ids of the fleet configs that select a workload. */
export interface Selecting {
  /** Those with the highest priority, the oldest first. */
  first: string[]
  /** Those with a lower one, in no order. */
  lower: string[]
}

/** Find the fleet configs that select a workload. It looks at every selector. */
export function findSelecting(workload: SelectableWorkload, candidates: readonly OpenCandidate[]): Selecting {
  const selecting = candidates.filter(({ selects }) => selects(workload))
  const highest = Math.max(...selecting.map(({ priority }) => priority))
  return {
    first: selecting
      .filter(({ priority }) => priority === highest)
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id),
    lower: selecting.filter(({ priority }) => priority !== highest).map(({ id }) => id),
  }
}

/**
 * Under which fleet config a workload is: of those that select it the one with the highest priority. Where several
 * have that (`first` of `findSelecting`), the workload stays where it was (`formerId`), else the oldest counts.
 */
export function judgeMembership(first: readonly string[], formerId: string | null): Membership {
  const configId = first.find((id) => id === formerId) ?? first[0] ?? null
  return { configId, rivals: first.filter((id) => id !== configId) }
}
