import type { Approval } from '../store/approvals.ts'

/** Why a wish is not requested again by itself. */
export type HoldReason = 'failed' | 'rejected' | 'replaced'

/** What is to be done about a wish: a config that Git holds for a workload. */
export type DesiredVerdict =
  /** The config is the active one. */
  | { action: 'unchanged' }
  /** It is requested already. */
  | { action: 'waits'; approval: Approval }
  | { action: 'propose' }
  /**
   * Somebody or something decided against this very text: it is not requested again until Git holds another one, or
   * `again` is set.
   */
  | { action: 'held'; reason: HoldReason; approval: Approval | null }

/** What is known of a workload and of a wish for it. */
export interface DesiredFacts {
  hash: string
  activeHash: string | null
  /** The workload is kept from this hash, since the config failed there. */
  hasFailed: boolean
  /** The same hash was wished for last time. */
  isSameWish: boolean
  /** The newest request from Git for this hash; null when there was none. */
  newest: Approval | null
  /** Ask again, whatever was decided. */
  again: boolean
}

/** Decide what is to be done about a wish, from values alone. */
export function decideDesired(facts: DesiredFacts): DesiredVerdict {
  const { hash, activeHash, hasFailed, isSameWish, newest, again } = facts
  if (newest?.status === 'pending' || newest?.status === 'approved')
    return { action: 'waits', approval: newest }
  if (hash === activeHash && !hasFailed) return { action: 'unchanged' }
  if (again) return { action: 'propose' }
  if (hasFailed) return { action: 'held', reason: 'failed', approval: newest }
  if (!isSameWish || newest === null) return { action: 'propose' }
  if (newest.status === 'rejected') return { action: 'held', reason: 'rejected', approval: newest }
  // The request was pushed, and something else is active: a rollback, or a push that broke the glass, replaced it.
  if (newest.status === 'pushed') return { action: 'held', reason: 'replaced', approval: newest }
  return { action: 'propose' }
}
