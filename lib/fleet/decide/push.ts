import type { PushPhase, PushStatus } from '../../store/pushes.ts'

/** How many targets of a push stand where. Instances that joined after its end are not among them. */
export interface TargetCounts {
  targets: number
  applying: number
  applied: number
  failed: number
  /** Those of the failed that never said so: they were lost as often as a target may be. */
  lostOut: number
  straggler: number
  gone: number
  /** Targets lost at least once after their offer, without a goodbye and not by us. */
  lost: number
  /** All such losses together. */
  losses: number
}

export interface PushFacts {
  status: PushStatus
  isSuperseded: boolean
  /** Held open until a last stage ends. */
  isStaged: boolean
  /** It takes the members of a rollout back to what others run. */
  isScoped: boolean
  hasSent: boolean
  counts: TargetCounts
  /** After a loss, at least one lost target came back or an instance joined. */
  hasReturned: boolean
  /** Of all that were assigned it and are live or away for less than the grace: everyone failed it. */
  hasEveryoneFailed: boolean
}

export interface PushVerdict {
  status: PushStatus
  phase: PushPhase
  /** Why it failed, when no instance said so itself. */
  cause: 'lost_while_applying' | null
}

/** So often at least are targets lost before that says something of the config. */
export const LOSSES_MIN = 3

function isLost({ counts, hasReturned }: PushFacts): boolean {
  return (
    counts.applied === 0 &&
    counts.targets > 0 &&
    counts.lost === counts.targets &&
    counts.losses >= LOSSES_MIN &&
    hasReturned
  )
}

/** Where a push stands: pending, then applied or failed; applied may still fail; never back. */
export function decidePush(facts: PushFacts): PushVerdict {
  const { counts } = facts
  if (facts.status === 'failed') return { status: 'failed', phase: 'failed', cause: null }
  if (facts.isSuperseded)
    return { status: facts.status, phase: facts.status === 'applied' ? 'applied' : 'superseded', cause: null }
  if (facts.status === 'applied') {
    return facts.hasEveryoneFailed
      ? { status: 'failed', phase: 'failed', cause: null }
      : { status: 'applied', phase: 'applied', cause: null }
  }
  if (facts.isScoped) return decideScoped(facts)
  if (counts.failed > counts.lostOut) return { status: 'failed', phase: 'failed', cause: null }
  if (isLost(facts)) return { status: 'failed', phase: 'failed', cause: 'lost_while_applying' }
  const isDecided = counts.applied + counts.straggler + counts.gone + counts.lostOut === counts.targets
  // Nobody runs it, and some died of it: that is no silence.
  if (isDecided && counts.applied === 0 && counts.lostOut > 0)
    return { status: 'failed', phase: 'failed', cause: 'lost_while_applying' }
  if (isDecided && counts.applied > 0 && !facts.isStaged)
    return { status: 'applied', phase: 'applied', cause: null }
  if (isDecided && counts.applied === 0) return { status: 'pending', phase: 'no_status', cause: null }
  if (counts.applying + counts.applied > 0) return { status: 'pending', phase: 'applying', cause: null }
  return { status: 'pending', phase: facts.hasSent ? 'sent' : 'submitted', cause: null }
}

/**
 * One instance that fails what others run says something of the instance and nothing of the config: the way back is
 * open until each of its targets has ended, and has failed only where nobody took it.
 */
function decideScoped({ counts, hasSent }: PushFacts): PushVerdict {
  const pending = (phase: PushPhase): PushVerdict => ({ status: 'pending', phase, cause: null })
  if (counts.applied + counts.failed + counts.straggler + counts.gone < counts.targets)
    return pending(
      counts.applying + counts.applied + counts.failed > 0 ? 'applying' : hasSent ? 'sent' : 'submitted',
    )
  if (counts.applied > 0) return { status: 'applied', phase: 'applied', cause: null }
  if (counts.failed === 0) return pending('no_status')
  const cause = counts.failed === counts.lostOut ? 'lost_while_applying' : null
  return { status: 'failed', phase: 'failed', cause }
}

/** A revision that a rollback could go back to. */
export interface RollbackCandidate {
  hash: string
  isQuarantined: boolean
  /** Every reported component list lacks something it needs. */
  isInvalid: boolean
}

export type RollbackTarget = { hash: string; kind: 'last_known_good' | 'previous' }

/**
 * What an automatic rollback goes back to: the pinned known-good where it fits, else the newest applied
 * revision that does; null when there is none, and then nothing moves.
 */
export function chooseRollbackTarget(
  failedHash: string,
  knownGood: RollbackCandidate | null,
  appliedNewestFirst: readonly RollbackCandidate[],
): RollbackTarget | null {
  const fits = (candidate: RollbackCandidate) =>
    candidate.hash !== failedHash && !candidate.isQuarantined && !candidate.isInvalid
  if (knownGood !== null && fits(knownGood)) return { hash: knownGood.hash, kind: 'last_known_good' }
  const previous = appliedNewestFirst.find(fits)
  return previous === undefined ? null : { hash: previous.hash, kind: 'previous' }
}
