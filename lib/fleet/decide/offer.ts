import { runsForGood, standsTo } from './standing.ts'

/** Why a config is offered; a generation is never offered twice to an instance without one of the later ones. */
export type OfferCause =
  | 'assigned'
  | 'new-connection'
  | 'send-dropped'
  | 'poll-repeated'
  | 'no-status'
  | 'applying-too-long'

/** What we know of one offer made to one instance. */
export interface Offer {
  readonly pushId: string
  readonly hash: string
  /** The assignment it was made for. */
  readonly generation: number
  /** Its row is stored; only then may a frame go out. */
  readonly isCommitted: boolean
  /** When it was begun; monotonic. */
  readonly startedAtMs: number
  /** Monotonic; null until a frame went out. */
  readonly lastSentAtMs: number | null
  readonly lastSentOn: number | null
  readonly sendsOnConnection: number
  /** How often the answer to a poll gave it again since it was last sent: such a poll says that no answer came. */
  readonly repeats: number
  /** The socket refused the last frame. */
  readonly wasDropped: boolean
  /** A status for its hash came since the last frame. */
  readonly hasStatus: boolean
  readonly ended: 'applied' | 'failed' | null
  readonly endedOn: number | null
}

/** What an instance last said of its remote config; unknown until a full report said it. */
export type Reported =
  | { isKnown: false }
  | { isKnown: true; hash: string; status: 'none' | 'applied' | 'applying' | 'failed'; sinceMs: number }

export interface OfferFacts {
  /** What the instance should run; null when nothing is assigned. */
  assignment: { pushId: string; hash: string; generation: number } | null
  /** The assignment is being changed right now. */
  isFrozen: boolean
  isCapable: boolean
  isCompatible: boolean
  /** What it can run is being asked. */
  areComponentsAwaited: boolean
  canReport: boolean
  /** The hash failed on this workload, or on this instance. */
  isQuarantined: boolean
  reported: Reported
  /** A FAILED of the assigned hash is known to be from before the push: then it does not hold back the offer. */
  isOldFailure: boolean
  offer: Offer | null
  /** The hash of an earlier offer that was sent and never answered, when it differs from the assigned one. */
  unansweredOtherHash: string | null
  connectionId: number
  nowMs: number
}

export type OfferDecision =
  | { kind: 'offer'; cause: OfferCause }
  /** The instance runs what it should. */
  | { kind: 'satisfied' }
  /** It was asked as often as may be. */
  | { kind: 'straggler' }
  | {
      kind: 'nothing'
      why:
        | 'unassigned'
        | 'frozen'
        | 'not-capable'
        | 'not-compatible'
        | 'components-awaited'
        | 'quarantined'
        | 'unknown'
        | 'failed-here'
        | 'went-elsewhere'
        | 'committing'
        | 'waiting'
    }

export const NO_STATUS_MS = 120_000
export const APPLYING_MS = 300_000
export const SENDS_MAX = 3
/** How often a poll that comes again is answered with the same offer again. */
export const REPEATS_MAX = 2

const nothing = (why: Extract<OfferDecision, { kind: 'nothing' }>['why']): OfferDecision => ({
  kind: 'nothing',
  why,
})

/** An agent that never tells: once a generation and connection. */
function decideUnreported(facts: OfferFacts, own: Offer | null): OfferDecision {
  if (own === null || own.lastSentAtMs === null) {
    return own !== null && !own.isCommitted ? nothing('committing') : { kind: 'offer', cause: 'assigned' }
  }
  return own.lastSentOn === facts.connectionId
    ? nothing('waiting')
    : { kind: 'offer', cause: 'new-connection' }
}

/** An offer of this generation is out: may it be repeated? */
function decideRepeat(facts: OfferFacts, own: Offer, isApplying: boolean): OfferDecision {
  if (!own.isCommitted) return nothing('committing')
  if (own.lastSentAtMs === null) return { kind: 'offer', cause: 'assigned' }
  const isNewConnection = own.lastSentOn !== facts.connectionId
  const silentMs = facts.nowMs - own.lastSentAtMs
  if (isApplying) {
    if (silentMs < APPLYING_MS) return nothing('waiting')
    return !isNewConnection && own.sendsOnConnection >= SENDS_MAX
      ? { kind: 'straggler' }
      : { kind: 'offer', cause: 'applying-too-long' }
  }
  if (isNewConnection) return { kind: 'offer', cause: 'new-connection' }
  if (own.wasDropped) return { kind: 'offer', cause: 'send-dropped' }
  // It may have begun to apply it and then named another one: that is no end either.
  if (silentMs < NO_STATUS_MS) return nothing('waiting')
  return own.sendsOnConnection >= SENDS_MAX ? { kind: 'straggler' } : { kind: 'offer', cause: 'no-status' }
}

/**
 * Offer the assigned config to an instance, or not. Pushes, joiners, reconnects, restarts, rollbacks and stages all
 * come through here: nothing else may decide that a config goes out.
 */
export function decideOffer(facts: OfferFacts): OfferDecision {
  const decision = decideByReports(facts)
  // One that runs it already is counted all the same.
  if (decision.kind === 'offer' && facts.areComponentsAwaited) return nothing('components-awaited')
  return decision
}

function decideByReports(facts: OfferFacts): OfferDecision {
  const { assignment, reported } = facts
  if (assignment === null) return nothing('unassigned')
  if (facts.isFrozen) return nothing('frozen')
  if (!facts.isCapable) return nothing('not-capable')
  if (!facts.isCompatible) return nothing('not-compatible')
  if (facts.isQuarantined) return nothing('quarantined')
  const own = facts.offer?.generation === assignment.generation ? facts.offer : null
  if (!facts.canReport) return decideUnreported(facts, own)
  if (!reported.isKnown) return nothing('unknown')
  if (own?.ended === 'failed') return nothing('failed-here')
  if (runsForGood(facts, assignment.hash)) return { kind: 'satisfied' }
  if (own?.ended === 'applied' && facts.unansweredOtherHash === null) {
    // It had applied the config and now names another: on the same connection it did so by itself, which is
    // drift to be shown, not a reason to push.
    return own.endedOn === facts.connectionId
      ? nothing('went-elsewhere')
      : { kind: 'offer', cause: 'new-connection' }
  }
  const standing = standsTo(facts, assignment.hash)
  const isApplying = standing === 'applying'
  if (own !== null && own.ended === null) return decideRepeat(facts, own, isApplying)
  // The same bytes would fail again.
  if (standing === 'failed' && !facts.isOldFailure) return nothing('failed-here')
  if (isApplying && facts.nowMs - reported.sinceMs < APPLYING_MS) return nothing('waiting')
  return { kind: 'offer', cause: isApplying ? 'applying-too-long' : 'assigned' }
}
