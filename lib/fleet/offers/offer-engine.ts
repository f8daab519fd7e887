import { encodeServerToAgent } from '../../opamp/codec.ts'
import type { AgentConnection } from '../../opamp/fleet-port.ts'
import type { ServerMessage } from '../../opamp/report.ts'
import { insertOffers, type PushTarget, type TargetOfPush } from '../../store/push-targets.ts'
import { canReport, isCapable } from '../decide/abilities.ts'
import { decideOffer, type Offer, type OfferCause, SENDS_MAX } from '../decide/offer.ts'
import { causeOfSilence, errorOfEnd, runsAnother } from '../decide/target-end.ts'
import { awaitsComponents } from '../state/component-lists.ts'
import type { FleetDeps } from '../state/deps.ts'
import { addTarget, moveTarget, newTarget } from '../state/followed-push.ts'
import type { FollowedPush, Instance } from '../state/model.ts'
import { assignmentOf, type FleetState, isQuarantined } from '../state/state.ts'
import type { WriteBehind } from '../state/write-behind.ts'

const COMMIT_MS = 10
const COMMIT_RETRY_MS = 1_000
/** How long an HTTP answer waits for its offer to be stored; after that the next poll carries it. */
const HTTP_WAIT_MS = 250
/** Frames per turn of the event loop during a fan-out. */
const FAN_OUT_CHUNK = 200

/** What was offered and sent, for the metrics and for the simulation to watch. */
export interface OfferObserver {
  sent(instance: Instance, offer: Offer, cause: OfferCause): void
}

/** What the answer to a poll is to carry besides. */
export interface PollOffer {
  due: ServerMessage | null
  /** An offer whose row is being stored; null when there is none to wait for. */
  pending: Promise<ServerMessage | null> | null
}

/** One poll whose answer can still carry an offer. */
interface OpenPoll {
  connection: AgentConnection
  /** Let the answer carry this; null ends the wait for nothing. */
  carry(message: ServerMessage | null): void
}

interface Waiting {
  followed: FollowedPush
  target: PushTarget
  instance: Instance
}

/** Makes the decisions of `decideOffer` happen: stores each offer first, sends it after, and repeats it when due. */
export class OfferEngine {
  readonly #deps: FleetDeps
  readonly #state: FleetState
  readonly #writer: WriteBehind
  #waiting = new Map<Instance, Waiting>()
  #isCommitting = false
  #isLooking = false
  #isScheduled = false
  /** Polls that are being answered, or wait a moment for an offer under way. */
  readonly #polls = new Map<Instance, OpenPoll>()
  /** Called when a target's state changed other than by a report. */
  targetChanged: (followed: FollowedPush) => void = () => {}
  observer: OfferObserver = { sent() {} }

  constructor(deps: FleetDeps, state: FleetState, writer: WriteBehind) {
    this.#deps = deps
    this.#state = state
    this.#writer = writer
  }

  /** Offers that wait to be stored. */
  get waitingCount(): number {
    return this.#waiting.size
  }

  #decide(instance: Instance, followed: FollowedPush | null) {
    const { workload, connection } = instance
    return decideOffer({
      assignment:
        followed === null
          ? null
          : { pushId: followed.push.pushId, hash: followed.push.hash, generation: followed.push.generation },
      isFrozen: workload?.isFrozen ?? true,
      isCapable: isCapable(instance),
      isCompatible: followed === null || this.isCompatible(instance, followed),
      areComponentsAwaited: awaitsComponents(instance),
      canReport: canReport(instance),
      isQuarantined: followed !== null && isQuarantined(workload!, followed.push.hash, instance.uid),
      reported: instance.reported,
      isOldFailure:
        followed !== null && (followed.targets.has(instance.uid) || followed.liftedUids.has(instance.uid)),
      offer: instance.offer,
      unansweredOtherHash: instance.unansweredOtherHash,
      connectionId: connection?.id ?? -1,
      nowMs: this.#deps.clock.monotonicMs(),
    })
  }

  /** Can this instance run the push's config, as far as its component list says? */
  isCompatible({ components }: Instance, followed: FollowedPush): boolean {
    if (components === null) return this.#deps.isCompatible(followed.required, null)
    let verdict = followed.compatibility.get(components)
    if (verdict === undefined) {
      verdict = this.#deps.isCompatible(followed.required, components.components)
      followed.compatibility.set(components, verdict)
    }
    return verdict
  }

  /** Look at one live instance and do what is due. Cheap when nothing is. */
  consider(instance: Instance, options: { isPollRepeated?: boolean } = {}): void {
    if (instance.connection === null || instance.workload === null) return
    if (instance.undescribedSinceMs !== null) return
    const followed = assignmentOf(instance)
    if (followed === null) return
    const decision = this.#decide(instance, followed)
    if (options.isPollRepeated && decision.kind === 'nothing' && decision.why === 'waiting') {
      if (this.#mayRepeatAnswer(instance)) this.#send(instance, followed, 'poll-repeated')
      return
    }
    if (decision.kind === 'offer') this.#offer(instance, followed, decision.cause)
    else if (decision.kind === 'satisfied') this.#satisfy(instance, followed)
    else if (decision.kind === 'straggler') this.#markStraggler(instance, followed)
  }

  /** An answer that did not arrive is given again, but not more often than anything else. */
  #mayRepeatAnswer({ offer }: Instance): boolean {
    if (offer === null || offer.ended !== null || !offer.isCommitted || offer.hasStatus) return false
    return offer.sendsOnConnection < SENDS_MAX
  }

  /** The instance runs what it should: settle its row without a frame. */
  #satisfy(instance: Instance, followed: FollowedPush): void {
    this.#state.outstanding.delete(instance)
    const target = followed.targets.get(instance.uid)
    const now = this.#deps.clock.now()
    if (target === undefined) {
      // A rollback of some is not about those that never left.
      if (followed.scope === null || followed.scope.has(instance.uid))
        this.#join(instance, followed, 'applied')
    } else if (target.state !== 'applied' && target.state !== 'superseded') {
      moveTarget(followed, target, 'applied', now)
      this.#writer.target({ pushId: followed.push.pushId, target })
      this.targetChanged(followed)
    }
  }

  #markStraggler(instance: Instance, followed: FollowedPush): void {
    const target = followed.targets.get(instance.uid)
    if (target === undefined || (target.state !== 'offered' && target.state !== 'applying')) return
    const cause = causeOfSilence({
      state: target.state,
      runsAnother: runsAnother(instance.reported, followed.push.hash),
    })
    moveTarget(followed, target, 'straggler', this.#deps.clock.now(), errorOfEnd(cause))
    this.#writer.target({ pushId: followed.push.pushId, target })
    this.targetChanged(followed)
  }

  /** An instance that was not there at the commit. While the push is pending it becomes one of its targets. */
  #join(instance: Instance, followed: FollowedPush, state: 'offered' | 'applied'): PushTarget {
    const target = this.#newJoiner(instance, followed, state)
    addTarget(followed, target)
    if (followed.lossCount > 0) followed.hasReturned = true
    this.#writer.target({ pushId: followed.push.pushId, target })
    this.targetChanged(followed)
    return target
  }

  #offer(instance: Instance, followed: FollowedPush, cause: OfferCause): void {
    const own = instance.offer
    if (own !== null && own.generation === followed.push.generation && own.isCommitted) {
      if (own.ended !== null) reopen(own)
      this.#send(instance, followed, cause)
      return
    }
    const target = followed.targets.get(instance.uid)
    // It counts once its row is written.
    const entry = target ?? this.#newJoiner(instance, followed, 'offered')
    startOffer(instance, followed, false)
    this.#state.outstanding.add(instance)
    this.#waiting.set(instance, { followed, target: entry, instance })
    this.#schedule(COMMIT_MS)
  }

  #newJoiner(instance: Instance, followed: FollowedPush, state: 'offered' | 'applied'): PushTarget {
    const reports = canReport(instance)
    return newTarget(instance, {
      generation: followed.push.generation,
      isTarget: reports && isOpenTo(followed, instance.uid),
      isJoiner: true,
      state: reports ? state : 'cannot_report',
      hadFailedBefore: hasFailed(instance, followed.push.hash),
      now: this.#deps.clock.now(),
    })
  }

  /** Decide, now that an agent polls, what the answer carries: nothing is laid up for it before it comes. */
  answerPoll(instance: Instance, connection: AgentConnection, isRepeated: boolean): PollOffer {
    // A poll that still waits is one that the agent has given up.
    this.#polls.get(instance)?.carry(null)
    let due: ServerMessage | null = null
    this.#polls.set(instance, {
      connection,
      carry(message) {
        due = message
      },
    })
    try {
      this.consider(instance, { isPollRepeated: isRepeated })
    } finally {
      this.#polls.delete(instance)
    }
    const isUnderWay = instance.offer !== null && !instance.offer.isCommitted
    return { due, pending: due === null && isUnderWay ? this.#waitForOffer(instance, connection) : null }
  }

  #waitForOffer(instance: Instance, connection: AgentConnection): Promise<ServerMessage | null> {
    return new Promise((resolve) => {
      const cancel = this.#deps.timers.after(HTTP_WAIT_MS, () => poll.carry(null))
      const poll: OpenPoll = {
        connection,
        carry: (message) => {
          cancel()
          if (this.#polls.get(instance) === poll) this.#polls.delete(instance)
          resolve(message)
        },
      }
      this.#polls.set(instance, poll)
    })
  }

  #send(instance: Instance, followed: FollowedPush, cause: OfferCause): void {
    const { connection, offer, workload } = instance
    if (connection === null || offer === null || workload === null) return
    // What may not go out now is due later.
    this.#state.outstanding.add(instance)
    // After a rollback committed, nobody gets the failed config: what is assigned now is asked last of all.
    if (workload.isFrozen || assignmentOf(instance) !== followed || !this.#deps.mayOffer()) return
    const outcome = this.#deliver(instance, connection, toMessage(followed))
    if (outcome === 'waits') return
    if (outcome === 'dropped') {
      offer.wasDropped = true
      return
    }
    noteSent(offer, connection.id, this.#deps.clock.monotonicMs())
    this.#noteOnTarget(instance, followed)
    this.observer.sent(instance, offer, cause)
  }

  /** A poller takes it with the answer to a poll of its own; between polls it waits, and is decided anew. */
  #deliver(
    instance: Instance,
    connection: AgentConnection,
    message: ServerMessage,
  ): ReturnType<AgentConnection['send']> | 'waits' {
    if (connection.transport === 'ws')
      return connection.send(encodeServerToAgent(instance.uidOnWire, message))
    const poll = this.#polls.get(instance)
    if (poll?.connection !== connection) return 'waits'
    poll.carry(message)
    return 'sent'
  }

  #noteOnTarget(instance: Instance, followed: FollowedPush): void {
    const now = this.#deps.clock.now()
    const target = followed.targets.get(instance.uid)
    const isBack = target !== undefined && ['straggler', 'gone', 'applied'].includes(target.state)
    if (isBack && moveTarget(followed, target, 'offered', now))
      this.#writer.target({ pushId: followed.push.pushId, target })
    if (followed.push.sentAt === null) followed.push.sentAt = now
    else if (!isBack) return
    followed.push.updatedAt = now
    this.targetChanged(followed)
  }

  /** Look at many instances, a few at a time: each gets what it is assigned by then. */
  fanOut(instances: readonly Instance[]): void {
    this.#inChunks(instances, (instance) => this.consider(instance))
  }

  /** Do something to many instances, a few in each turn of the event loop. */
  #inChunks(
    instances: readonly Instance[],
    work: (instance: Instance) => void,
    done: () => void = () => {},
  ): void {
    let next = 0
    const workOnSome = () => {
      const end = Math.min(next + FAN_OUT_CHUNK, instances.length)
      try {
        while (next < end) work(instances[next++]!)
      } finally {
        // One that breaks is passed over: the others are owed their look all the same.
        if (next < instances.length) this.#deps.timers.after(0, workOnSome)
        else done()
      }
    }
    workOnSome()
  }

  #schedule(delayMs: number): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#deps.timers.after(delayMs, () => {
      this.#isScheduled = false
      void this.#commit()
    })
  }

  /** Store the waiting offers together; those that are stored, and still assigned, go out. */
  async #commit(): Promise<void> {
    if (this.#isCommitting || this.#waiting.size === 0) return
    this.#isCommitting = true
    const batch = [...this.#waiting.values()]
    this.#waiting = new Map()
    try {
      const stored = await this.#deps.db.transaction('offers.store', async (tx) => {
        await this.#deps.checkEpoch(tx)
        return insertOffers(
          tx,
          batch.map(({ followed, target }): TargetOfPush => ({ pushId: followed.push.pushId, target })),
        )
      })
      for (const entry of batch) this.#afterCommit(entry, stored)
    } catch (error) {
      this.#deps.log.warn({ err: error, offers: batch.length }, 'offers could not be stored yet')
      for (const { instance, followed } of batch) {
        // A push that was committed meanwhile has made an offer of its own.
        if (instance.offer?.pushId !== followed.push.pushId || instance.offer.isCommitted) continue
        instance.offer = null
        this.#polls.get(instance)?.carry(null)
      }
      this.#deps.timers.after(COMMIT_RETRY_MS, () => {
        for (const entry of batch) this.#afterDoubt(entry)
      })
    } finally {
      this.#isCommitting = false
      if (this.#waiting.size > 0) this.#schedule(COMMIT_MS)
    }
  }

  /** Whether its row was stored is not known: it is tried again, or ends as one that was. */
  #afterDoubt({ followed, target, instance }: Waiting): void {
    const { workload, uid } = instance
    const isHere = instance.connection !== null && assignmentOf(instance) === followed
    const isFollowed = workload !== null && !followed.isSuperseded
    if (!isHere && isFollowed && !followed.targets.has(uid)) {
      addTarget(followed, target)
      this.#writer.target({ pushId: followed.push.pushId, target })
      this.targetChanged(followed)
    }
    this.consider(instance)
  }

  #afterCommit({ followed, target, instance }: Waiting, stored: ReadonlySet<string>): void {
    const isStored = stored.has(`${followed.push.pushId}/${instance.uid}`)
    const offer = instance.offer?.pushId === followed.push.pushId ? instance.offer : null
    if (offer === null || !isStored) {
      if (offer !== null) instance.offer = null
      this.#polls.get(instance)?.carry(null)
    } else offer.isCommitted = true
    // Its row is there, also where it belongs elsewhere by now: then that is how it ends.
    if (isStored && !followed.targets.has(instance.uid)) {
      addTarget(followed, target)
      if (followed.lossCount > 0) followed.hasReturned = true
      this.targetChanged(followed)
    }
    this.consider(instance)
  }

  /** Each second: repeat what is overdue. */
  tick(): void {
    // A look that is not over yet goes on instead.
    if (this.#isLooking) return
    this.#isLooking = true
    this.#inChunks(
      [...this.#state.outstanding],
      (instance) => {
        const { offer, connection } = instance
        const isDone = offer === null || offer.ended !== null
        if (isDone && !this.#waiting.has(instance)) this.#state.outstanding.delete(instance)
        else if (connection !== null && connection.transport === 'ws') this.consider(instance)
      },
      () => {
        this.#isLooking = false
      },
    )
  }
}

/** May a joiner still become one of the push's targets? */
function isOpenTo(followed: FollowedPush, uid: string): boolean {
  const { push, isSuperseded, isStaged, scope } = followed
  if (push.status !== 'pending' || isSuperseded || scope?.has(uid) === false) return false
  return isStaged || !isDecidedWithoutJoiners(followed)
}

/** Somebody applied it, and all whom it was pushed to have answered: else it would stay open while others keep coming. */
function isDecidedWithoutJoiners({ awaiting, push }: FollowedPush): boolean {
  if (push.counts.applied === 0) return false
  for (const { isTarget, isJoiner } of awaiting.keys()) if (isTarget && !isJoiner) return false
  return true
}

/** Did this instance say, before it was offered this config, that it failed it? */
export function hasFailed(instance: Instance, hash: string): boolean {
  const { reported } = instance
  return reported.isKnown && reported.hash === hash && reported.status === 'failed'
}

/** Begin a new offer on an instance; an earlier one that was never answered stays in mind. */
export function startOffer(instance: Instance, followed: FollowedPush, isCommitted: boolean): void {
  const before = instance.offer
  const { hash, generation, pushId } = followed.push
  if (before !== null && before.lastSentAtMs !== null && before.ended === null && before.hash !== hash)
    instance.unansweredOtherHash = before.hash
  const carries = before !== null && before.hash === hash && before.ended === null && before.isCommitted
  instance.offer = {
    pushId,
    hash,
    generation,
    isCommitted,
    // An outstanding offer of the same hash carries over as this push's.
    lastSentAtMs: carries ? before.lastSentAtMs : null,
    lastSentOn: carries ? before.lastSentOn : null,
    sendsOnConnection: carries ? before.sendsOnConnection : 0,
    wasDropped: false,
    hasStatus: false,
    ended: null,
    endedOn: null,
  }
}

function noteSent(offer: Offer, connectionId: number, nowMs: number): void {
  offer.sendsOnConnection = offer.lastSentOn === connectionId ? offer.sendsOnConnection + 1 : 1
  offer.lastSentOn = connectionId
  offer.lastSentAtMs = nowMs
  offer.wasDropped = false
  offer.hasStatus = false
}

function reopen(offer: Offer): void {
  offer.ended = null
  offer.endedOn = null
}

function toMessage(followed: FollowedPush): ServerMessage {
  return { remoteConfig: { hash: Buffer.from(followed.push.hash, 'hex'), body: followed.body } }
}
