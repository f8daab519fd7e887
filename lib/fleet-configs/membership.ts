import { type Condition, openSelector, type SelectableWorkload } from '../selectors/selector.ts'
import type { StoredFleetConfig } from '../store/fleet-configs.ts'

/** What decides which fleet config a workload is under. */
export interface Candidate extends Pick<StoredFleetConfig, 'id' | 'selector' | 'priority' | 'createdAt'> {
  /** Who is about to keep it in Git; absent where that stays as it is. */
  owner?: string
}

/** A candidate whose selector was read. */
export interface OpenCandidate extends Candidate {
  selects: Condition
}

/** Read the selectors of fleet configs once, for many workloads. */
export const openCandidates = (candidates: readonly Candidate[]): OpenCandidate[] =>
  candidates.map((candidate) => ({ ...candidate, selects: openSelector(candidate.selector) }))

/** Under which fleet config a workload is. */
export interface Membership {
  /** Null for none. */
  configId: string | null
  /** Ids of other fleet configs that select the workload with the same priority. */
  rivals: string[]
}

/**
 * Find the fleet configs that select a workload, the highest priority first and of equal ones the oldest. It looks at every
 * selector.
 */
export const findSelecting = (
  workload: SelectableWorkload,
  candidates: readonly OpenCandidate[],
): OpenCandidate[] =>
  candidates
    .filter(({ selects }) => selects(workload))
    .sort(
      (a, b) =>
        b.priority - a.priority || a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1),
    )

/**
 * Under which fleet config a workload is: of those that select it (`findSelecting`) the one with the highest priority. Where
 * several have that, the workload stays where it was (`formerId`), else the oldest counts. Where Git has brought the former
 * one there (`keptBy`: who keeps a fleet config in Git), only another one of the same owner takes it away.
 */
export function judgeMembership(
  selecting: readonly Candidate[],
  formerId: string | null,
  keptBy: ((candidate: Candidate) => string | null) | null = null,
): Membership {
  const former = selecting.find(({ id }) => id === formerId)
  const owner = former === undefined || keptBy === null ? null : keptBy(former)
  const among = owner === null ? selecting : selecting.filter((one) => keptBy!(one) === owner)
  const priority = among[0]?.priority
  const isFirst = (one: Candidate) => one.priority === priority
  const configId = among.find((one) => isFirst(one) && one === former)?.id ?? among[0]?.id ?? null
  return {
    configId,
    rivals: selecting.filter((one) => isFirst(one) && one.id !== configId).map(({ id }) => id),
  }
}
