import { runsForGood, standsTo } from './standing.ts'

/** Why a config is offered. The first frame of a generation is 'assigned'; a repeat has one of the other causes. */
export type OfferCause =
  | 'assigned'
  | 'new-connection'
  | 'send-dropped'
  | 'poll-repeated'
  | 'no-status'
  | 'applying-too-long'

/** An offer to one instance, as far as this process knows. */
export interface Offer {
  readonly pushId: string
  readonly hash: string
  /** The generation of the assignment that it was made for. */
  readonly generation: number
  /** Its row is stored; only then may a frame go out. */
  readonly isCommitted: boolean
  /** When it was begun; heard time. */
  readonly startedAtMs: number
  /** Heard time; null until a frame went out. */
  readonly lastSentAtMs: number | null
  /** What that was before the last frame, for one that turns out not to have left. */
  readonly formerSentAtMs: number | null
  /** Id of the connection that the last frame went out on. */
  readonly lastSentOn: number | null
  /** Id of the connection on which a frame is known to have left: of one at a front, because the front said so. */
  readonly leftOn: number | null
  /** A frame is known to have left, on any connection: it may have got there, whatever became of later ones. */
  readonly hasLeft: boolean
  readonly sendsOnConnection: number
  /** How often a repeated poll was answered with this offer again; such a poll means that the last answer was lost. */
  readonly repeats: number
  /** The socket refused the last frame. */
  readonly wasDropped: boolean
  /** A status for its hash came since the last frame. */
  readonly hasStatus: boolean
  readonly ended: 'applied' | 'failed' | null
  /** Id of the connection on which it ended. */
  readonly endedOn: number | null
}

/** What an instance last said of its remote config; unknown until a full report said it. */
export type Reported =
  | { isKnown: false }
  | { isKnown: true; hash: string; status: 'none' | 'applied' | 'applying' | 'failed'; sinceMs: number }

/** Everything that `decideOffer` judges by: one live instance and what it is assigned. */
export interface OfferFacts {
  /** What the instance should run; null when nothing is assigned. */
  assignment: { pushId: string; hash: string; generation: number } | null
  /** Nothing is offered in the workload while its assignment changes. */
  hasStoppedOffers: boolean
  isCapable: boolean
  isCompatible: boolean
  /** The instance was asked for its component list and has not sent it yet. */
  areComponentsAwaited: boolean
  canReport: boolean
  /** The hash failed on this workload, or on this instance. */
  isQuarantined: boolean
  reported: Reported
  /** A FAILED that the instance reports for the assigned hash is from before the push: it is no reason not to offer. */
  isOldFailure: boolean
  offer: Offer | null
  /** The hash of an earlier offer that was sent and never answered, when it differs from the assigned one. */
  unansweredOtherHash: string | null
  /** The hash of another config that went out on a connection which has ended, and was never answered. */
  lateHash: string | null
  connectionId: number
  nowMs: number
}

/** Whether an instance is offered its config now, or why not. */
export type OfferDecision =
  | { kind: 'offer'; cause: OfferCause }
  /** The instance runs what it should. */
  | { kind: 'satisfied' }
  /** It was offered the config `SENDS_MAX` times and has not said what became of it. */
  | { kind: 'straggler' }
  | {
      kind: 'nothing'
      why:
        | 'unassigned'
        | 'stopped'
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

/** After how long without any status an offer is repeated. */
export const NO_STATUS_MS = 120_000
/** After how long in APPLYING an offer is repeated. */
export const APPLYING_MS = 300_000
/** How many frames with one offer an instance gets on one connection, repeated polls apart. */
export const SENDS_MAX = 3
/** How often a repeated poll is answered with the same offer again. */
export const REPEATS_MAX = 2

const nothing = (why: Extract<OfferDecision, { kind: 'nothing' }>['why']): OfferDecision => ({
  kind: 'nothing',
  why,
})

/** For an agent that never reports a config status: each generation is sent once on each connection. */
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
  // Also where the instance was applying this config and then reported another one: that does not end the offer.
  if (silentMs < NO_STATUS_MS) return nothing('waiting')
  return own.sendsOnConnection >= SENDS_MAX ? { kind: 'straggler' } : { kind: 'offer', cause: 'no-status' }
}

/**
 * Offer the assigned config to an instance, or not. Pushes, joiners, reconnects, restarts, rollbacks and stages all
 * come through here: nothing else may decide that a config goes out.
 */
export function decideOffer(facts: OfferFacts): OfferDecision {
  const decision = decideByReports(facts)
  // Only an offer waits for the component list: an instance that runs the config already is settled without it.
  if (decision.kind === 'offer' && facts.areComponentsAwaited) return nothing('components-awaited')
  return decision
}

function decideByReports(facts: OfferFacts): OfferDecision {
  const { assignment, reported } = facts
  if (assignment === null) return nothing('unassigned')
  if (facts.hasStoppedOffers) return nothing('stopped')
  if (!facts.isCapable) return nothing('not-capable')
  if (!facts.isCompatible) return nothing('not-compatible')
  if (facts.isQuarantined) return nothing('quarantined')
  const own = facts.offer?.generation === assignment.generation ? facts.offer : null
  if (!facts.canReport) return decideUnreported(facts, own)
  if (!reported.isKnown) return nothing('unknown')
  if (own?.ended === 'failed') return nothing('failed-here')
  if (runsForGood(facts, assignment.hash)) return { kind: 'satisfied' }
  if (own?.ended === 'applied' && facts.unansweredOtherHash === null) {
    // The instance had applied the config and now reports another one. On the same connection it changed by itself:
    // that is drift, which is shown and not corrected, unless it was sent that other one before and comes to run it now.
    const isLate = facts.lateHash !== null && standsTo(facts, facts.lateHash) === 'agrees'
    return own.endedOn === facts.connectionId && !isLate
      ? nothing('went-elsewhere')
      : { kind: 'offer', cause: 'new-connection' }
  }
  const standing = standsTo(facts, assignment.hash)
  const isApplying = standing === 'applying'
  if (own !== null && own.ended === null) return decideRepeat(facts, own, isApplying)
  // The instance has failed this config: the same bytes would fail again.
  if (standing === 'failed' && !facts.isOldFailure) return nothing('failed-here')
  if (isApplying && facts.nowMs - reported.sinceMs < APPLYING_MS) return nothing('waiting')
  return { kind: 'offer', cause: isApplying ? 'applying-too-long' : 'assigned' }
}
