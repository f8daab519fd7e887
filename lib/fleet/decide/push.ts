import type { PushPhase, PushStatus } from '../../store/pushes.ts'
import { LOSSES_MIN } from './losses.ts'

/** How many targets of a push are in which state. Instances that joined after the push had ended are not counted. */
export interface TargetCounts {
  targets: number
  applying: number
  applied: number
  failed: number
  /** Those of the failed that never reported FAILED, but were lost `LOSSES_MIN` times. */
  lostOut: number
  straggler: number
  gone: number
  /** Targets whose connection ended at least once after their offer, without a goodbye and not ended by muster. */
  lost: number
  /** All such losses together. */
  losses: number
}

/** Everything that `decidePush` judges by. */
export interface PushFacts {
  status: PushStatus
  isSuperseded: boolean
  /** A push in stages: it stays pending until its last stage ends. */
  isStaged: boolean
  /** It brings back a config that ran there before (`isBringingBack`). */
  bringsBack: boolean
  /** It brings it back to some instances only. */
  isScoped: boolean
  hasSent: boolean
  counts: TargetCounts
  /** Whether targets have not ended, and if so, whether all of these joined after it was planned. */
  open: 'planned' | 'joined' | 'none'
  /** After a loss, at least one lost target came back or an instance joined. */
  hasReturned: boolean
  /** Every instance that is assigned it, and is live or away for less than the grace, has failed it. */
  hasEveryoneFailed: boolean
}

/** The status and phase that a push has by its facts. */
export interface PushVerdict {
  status: PushStatus
  phase: PushPhase
  /** Why it failed, when no instance said so itself. */
  cause: 'lost_while_applying' | null
}

/**
 * Whether it seems to kill whoever applies it: every target was lost; or every one that was planned has ended, and of
 * those that joined since, one after the other is lost.
 */
function isLost(facts: PushFacts): boolean {
  const { counts, hasReturned } = facts
  if (counts.applied > 0 || counts.losses < LOSSES_MIN || !hasReturned) return false
  return counts.lost === counts.targets || (counts.lost >= LOSSES_MIN && facts.open === 'joined')
}

/** Judge a push: it is pending, then applied or failed. An applied push may still fail; a failed one stays failed. */
export function decidePush(facts: PushFacts): PushVerdict {
  const { counts } = facts
  if (facts.status === 'failed') return { status: 'failed', phase: 'failed', cause: null }
  if (facts.isSuperseded)
    return { status: facts.status, phase: facts.status === 'applied' ? 'applied' : 'superseded', cause: null }
  if (facts.status === 'applied') {
    // That a config which was brought back runs somewhere says that it is good, also once that instance is gone.
    return facts.hasEveryoneFailed && !facts.bringsBack
      ? { status: 'failed', phase: 'failed', cause: null }
      : { status: 'applied', phase: 'applied', cause: null }
  }
  if (facts.bringsBack) return decideBringingBack(facts)
  if (counts.failed > counts.lostOut) return { status: 'failed', phase: 'failed', cause: null }
  if (isLost(facts)) return { status: 'failed', phase: 'failed', cause: 'lost_while_applying' }
  const isDecided = counts.applied + counts.straggler + counts.gone + counts.lostOut === counts.targets
  // No instance runs it and some were lost with it: that is a failure and not just a missing answer.
  if (isDecided && counts.applied === 0 && counts.lostOut > 0)
    return { status: 'failed', phase: 'failed', cause: 'lost_while_applying' }
  if (isDecided && counts.applied > 0 && !facts.isStaged)
    return { status: 'applied', phase: 'applied', cause: null }
  if (isDecided && counts.applied === 0) return { status: 'pending', phase: 'no_status', cause: null }
  if (counts.applying + counts.applied > 0) return { status: 'pending', phase: 'applying', cause: null }
  return { status: 'pending', phase: facts.hasSent ? 'sent' : 'submitted', cause: null }
}

/**
 * How many instances have to fail what is brought back, or be lost with it, before it has failed without waiting for
 * those that joined.
 */
const FAILURES_MIN = 3

/**
 * Judge a push that brings back what ran there before. An instance that fails it says something of that instance and
 * nothing of the config: the push goes on to all others, is open until each target that was planned has ended, and has
 * failed only where no target applied it. Those that joined are waited for as well while few have failed it or were lost
 * with it; no longer, as they may come for ever.
 */
function decideBringingBack(facts: PushFacts): PushVerdict {
  const { counts, hasSent, open } = facts
  const pending = (phase: PushPhase): PushVerdict => ({ status: 'pending', phase, cause: null })
  if (!facts.isScoped && isLost(facts))
    return { status: 'failed', phase: 'failed', cause: 'lost_while_applying' }
  const hasJoined = open === 'joined'
  const waitsForJoined = hasJoined && counts.applied === 0 && counts.failed + counts.lost < FAILURES_MIN
  if (open === 'planned' || waitsForJoined)
    return pending(
      counts.applying + counts.applied + counts.failed > 0 ? 'applying' : hasSent ? 'sent' : 'submitted',
    )
  if (counts.applied > 0) return { status: 'applied', phase: 'applied', cause: null }
  if (counts.failed === 0 && !hasJoined) return pending('no_status')
  const cause = counts.failed === counts.lostOut ? 'lost_while_applying' : null
  return { status: 'failed', phase: 'failed', cause }
}

/** A config that a rollback could go back to. */
export interface RollbackCandidate {
  hash: string
  isQuarantined: boolean
  /** No live instance has all the components that it uses, as far as their lists say. */
  isInvalid: boolean
}

/** The config to go back to: the pinned known-good, or one that was applied before. */
export type RollbackTarget = { hash: string; kind: 'last_known_good' | 'previous' }

/**
 * What a rollback goes back to when nobody names a config: the pinned known-good where it fits, else the newest applied
 * revision that does; null when there is none, and then nothing is pushed.
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
