import type { Approval } from '../store/approvals.ts'

/** Why a wish is not requested again by itself. */
export type HoldReason = 'failed' | 'rejected' | 'replaced'

/**
 * What a wish waits for, where that is no request: that it is rolled out to its end itself, or that something else is
 * which would take its place, or that it would then take the place of.
 */
export type WaitReason = 'rolling_out' | 'other_rolling_out'

/** What is to be done about a wish: a config that Git holds for a workload. */
export type DesiredVerdict =
  /** The config is the active one. */
  | { action: 'unchanged' }
  /** It is requested already, or a rollout in stages has to end before it can be said what is to be done. */
  | { action: 'waits'; reason: WaitReason | null; approval: Approval | null }
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
  /** What some instances got in stages, and others not: still on its way, or stopped half-way; null for nothing. */
  rollout: { hash: string; isStopped: boolean } | null
  /** The workload is kept from this hash, since the config failed there. */
  hasFailed: boolean
  /** The newest request from Git for this hash; null when there was none. */
  newest: Approval | null
  /**
   * The request that this wish became; null where it became none. What was decided about an earlier request for the same
   * text says nothing of a wish that came after something else.
   */
  own: Approval | null
  /** Ask again, whatever was decided. */
  again: boolean
}

/** Decide what is to be done about a wish, from values alone. */
export function decideDesired(facts: DesiredFacts): DesiredVerdict {
  const { hash, activeHash, rollout, hasFailed, newest, own, again } = facts
  if (newest?.status === 'pending' || newest?.status === 'approved')
    return { action: 'waits', reason: null, approval: newest }
  if (rollout !== null && !rollout.isStopped) {
    if (rollout.hash === hash) return { action: 'waits', reason: 'rolling_out', approval: own }
    if (activeHash === hash) return { action: 'waits', reason: 'other_rolling_out', approval: null }
  }
  const isLeftHalfWay = rollout?.isStopped === true && rollout.hash !== hash
  if (hash === activeHash && !hasFailed && !isLeftHalfWay) return { action: 'unchanged' }
  if (again) return { action: 'propose' }
  if (hasFailed) return { action: 'held', reason: 'failed', approval: newest }
  if (own?.status === 'rejected') return { action: 'held', reason: 'rejected', approval: own }
  // The request was pushed, and something else is active: a rollback, or a push that broke the glass, replaced it.
  if (own?.status === 'pushed') return { action: 'held', reason: 'replaced', approval: own }
  return { action: 'propose' }
}
