import type { AgentConnection, FleetPort } from '../../opamp/fleet-port.ts'
import type { ServerMessage } from '../../opamp/report.ts'
import { tellAgent } from '../../opamp/tell-agent.ts'
import type { PushTarget } from '../../store/push-targets.ts'
import { canReport, isCapable } from '../decide/abilities.ts'
import { diedTooOften } from '../decide/losses.ts'
import { decideOffer, type OfferCause, REPEATS_MAX } from '../decide/offer.ts'
import { pollSlackMs } from '../decide/poll-rhythm.ts'
import { runsAnother, standsTo } from '../decide/standing.ts'
import { causeOfSilence, errorOfEnd } from '../decide/target-end.ts'
import { beginOffer } from '../state/begin-offer.ts'
import { awaitsComponents } from '../state/component-lists.ts'
import {
  addTarget,
  isPushOpen,
  isWaitedOut,
  moveTarget,
  newTarget,
  openTargetsOf,
  wasJoinerWaitedOut,
} from '../state/followed-push.ts'
import { inChunks } from '../state/in-chunks.ts'
import { connectionIdOf, type FollowedPush, type Instance, type Workload } from '../state/model.ts'
import {
  noteOfferDropped,
  noteOfferLeft,
  noteOfferSent,
  reopenOffer,
  startOffer,
} from '../state/offer-state.ts'
import { type FleetParts, isCompatible } from '../state/parts.ts'
import { assignmentOf, hasLeftFor, isQuarantined } from '../state/state.ts'
import { OfferCommits } from './offer-commits.ts'
import { PollAnswers } from './poll-answers.ts'
import { paceOf } from './push-pace.ts'

/** Carries out what `decideOffer` decides: stores each offer, then sends it, and repeats it when due. */
export class OfferEngine {
  readonly #parts: FleetParts
  readonly #polls: PollAnswers
  readonly #commits: OfferCommits
  #isLooking = false
  /** Frames with offers since the start, by cause, for the metrics. */
  readonly sentCounts = new Map<OfferCause, number>()

  constructor(parts: FleetParts) {
    this.#parts = parts
    this.#polls = new PollAnswers(parts.deps.timers)
    this.#commits = new OfferCommits(parts, this.#polls)
  }

  /** Offers that wait to be stored. */
  get waitingCount(): number {
    return this.#commits.count
  }

  #decide(instance: Instance, followed: FollowedPush | null) {
    const { workload } = instance
    return decideOffer({
      assignment:
        followed === null
          ? null
          : { pushId: followed.push.pushId, hash: followed.push.hash, generation: followed.push.generation },
      hasStoppedOffers: workload?.hasStoppedOffers ?? true,
      isCapable: isCapable(instance),
      isCompatible: followed === null || isCompatible(this.#parts.deps, instance, followed),
      areComponentsAwaited: awaitsComponents(instance),
      canReport: canReport(instance),
      isQuarantined: followed !== null && isQuarantined(workload!, followed.push.hash, instance.uid),
      reported: instance.reported,
      isOldFailure:
        followed !== null && (followed.targets.has(instance.uid) || followed.liftedUids.has(instance.uid)),
      offer: instance.offer,
      unansweredOtherHash: instance.unansweredOtherHash,
      lateHash: instance.lateHash,
      connectionId: connectionIdOf(instance),
      nowMs: this.#parts.deps.clock.heardMs(),
    })
  }

  /** Look at one live instance and do what is due. Cheap when nothing is. */
  consider(instance: Instance, options: { isPollRepeated?: boolean } = {}): void {
    beginOffer(this.#parts, instance)
    if (instance.connection === null || instance.workload === null) return
    if (instance.undescribedSinceMs !== null) return
    const followed = assignmentOf(instance)
    if (followed === null) return
    const decision = this.#decide(instance, followed)
    if (options.isPollRepeated && decision.kind === 'nothing' && decision.why === 'waiting') {
      if (this.#mayRepeatAnswer(instance)) this.#send(instance, followed, 'poll-repeated')
      return
    }
    if (decision.kind === 'offer' && diedTooOften(followed.targets.get(instance.uid)))
      this.#parts.tell({ kind: 'died-too-often', instance })
    else if (decision.kind === 'offer') this.#offer(instance, followed, decision.cause)
    else if (decision.kind === 'satisfied') this.#satisfy(instance, followed)
    else if (decision.kind === 'straggler') this.#markStraggler(instance, followed)
  }

  /** May the answer to a repeated poll carry the offer again? Within bounds, as some agents send each request twice. */
  #mayRepeatAnswer(instance: Instance): boolean {
    const { offer } = instance
    if (offer === null || offer.ended !== null || !offer.isCommitted || offer.hasStatus) return false
    return offer.lastSentOn === connectionIdOf(instance) && offer.repeats < REPEATS_MAX
  }

  /** The instance runs what it is assigned: its target has applied, without a frame. */
  #satisfy(instance: Instance, followed: FollowedPush): void {
    this.#parts.state.outstanding.delete(instance)
    const target = followed.targets.get(instance.uid)
    if (target === undefined) {
      // A push that takes members of a rollout back is not about the other instances.
      if (followed.scope === null || followed.scope.has(instance.uid))
        this.#join(instance, followed, 'applied')
    } else if (target.state !== 'applied' && target.state !== 'superseded') {
      moveTarget(followed, target, 'applied', this.#parts.deps.clock)
      this.#parts.writer.target({ pushId: followed.push.pushId, target })
      this.#parts.tell({ kind: 'target-moved', followed })
    }
  }

  #markStraggler(instance: Instance, followed: FollowedPush): void {
    const target = followed.targets.get(instance.uid)
    if (target === undefined || (target.state !== 'offered' && target.state !== 'applying')) return
    const cause = causeOfSilence({
      state: target.state,
      hasLeft: hasLeftFor(instance, followed),
      runsAnother: runsAnother(instance, followed.push.hash),
    })
    moveTarget(followed, target, 'straggler', this.#parts.deps.clock, errorOfEnd(cause))
    this.#parts.writer.target({ pushId: followed.push.pushId, target })
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  /** Add an instance that was not planned for. It counts as a target while the push is still open to joiners. */
  #join(instance: Instance, followed: FollowedPush, state: 'offered' | 'applied'): PushTarget {
    const target = this.#newJoiner(instance, followed, state)
    addTarget(followed, target, this.#parts.deps.clock)
    if (followed.lossCount > 0) followed.hasReturned = true
    this.#parts.writer.target({ pushId: followed.push.pushId, target })
    this.#parts.tell({ kind: 'target-moved', followed })
    return target
  }

  #offer(instance: Instance, followed: FollowedPush, cause: OfferCause): void {
    const own = instance.offer
    if (own !== null && own.generation === followed.push.generation && own.isCommitted) {
      reopenOffer(instance)
      this.#send(instance, followed, cause)
      return
    }
    const target = followed.targets.get(instance.uid)
    // A joiner is counted once its row is stored.
    const entry = target ?? this.#newJoiner(instance, followed, 'offered')
    startOffer(instance, followed.push, {
      isCommitted: false,
      nowMs: this.#parts.deps.clock.heardMs(),
    })
    this.#parts.state.outstanding.add(instance)
    this.#commits.store(instance, instance.workload!, followed, entry)
  }

  #newJoiner(instance: Instance, followed: FollowedPush, state: 'offered' | 'applied'): PushTarget {
    const reports = canReport(instance)
    const isSilent = state === 'offered' && wasJoinerWaitedOut(followed, instance.uid, pollSlackMs(instance))
    return newTarget(instance, {
      generation: followed.push.generation,
      isTarget: reports && isOpenTo(followed, instance.uid),
      isJoiner: true,
      state: reports ? (isSilent ? 'straggler' : state) : 'cannot_report',
      hadFailedBefore: standsTo(instance, followed.push.hash) === 'failed',
      now: this.#parts.deps.clock.now(),
    })
  }

  /**
   * Look at an instance whose message is about to be answered. What a poller is offered is decided only now, when it
   * polls: nothing is prepared for it between polls.
   */
  answer(
    message: ServerMessage,
    instance: Instance,
    connection: AgentConnection,
    isRepeated: boolean,
  ): ReturnType<FleetPort['receive']> {
    const nothing = { message, pendingOffer: null }
    if (instance.workload === null || !isCapable(instance)) return nothing
    if (connection.transport !== 'http') {
      this.consider(instance)
      return nothing
    }
    const due = this.#polls.answer(instance, connection, () =>
      this.consider(instance, { isPollRepeated: isRepeated }),
    )
    if (due !== null) return { message: { ...message, ...due }, pendingOffer: null }
    const isUnderWay = instance.offer !== null && !instance.offer.isCommitted
    return isUnderWay ? { message, pendingOffer: this.#polls.wait(instance, connection) } : nothing
  }

  #send(instance: Instance, followed: FollowedPush, cause: OfferCause): void {
    const { connection, offer, workload } = instance
    if (connection === null || offer === null || workload === null) return
    // Where the frame may not go out now, it is due later.
    this.#parts.state.outstanding.add(instance)
    // Asked again right before the frame: after a rollback is committed, no instance may get the failed config.
    if (workload.hasStoppedOffers || assignmentOf(instance) !== followed || !this.#parts.deps.mayOffer())
      return
    const outcome = this.#deliver(instance, connection, toMessage(workload, followed))
    if (outcome === 'waits') return
    if (outcome === 'dropped') {
      noteOfferDropped(instance)
      return
    }
    // A front that could not send the last frame may not be able to send this one: the target stays as it ended.
    const mayNotLeave = connection.tell !== undefined && offer.wasDropped
    noteOfferSent(instance, connection.id, {
      nowMs: this.#parts.deps.clock.heardMs(),
      isRepeat: cause === 'poll-repeated',
    })
    if (connection.acknowledges !== true) {
      noteOfferLeft(instance, { isSure: !mayNotLeave })
      this.#noteOnTarget(instance, followed, !mayNotLeave)
    }
    this.sentCounts.set(cause, (this.sentCounts.get(cause) ?? 0) + 1)
    this.#parts.deps.notices.offerSent(instance, offer, cause)
  }

  /** Send an offer. A poller gets it with the answer to an open poll; 'waits' when none is open: decide at the next. */
  #deliver(
    instance: Instance,
    connection: AgentConnection,
    message: ServerMessage,
  ): ReturnType<AgentConnection['send']> | 'waits' {
    if (connection.transport === 'ws') return tellAgent(connection, instance.uidOnWire, message)
    return this.#polls.carry(instance, connection, message) ? 'sent' : 'waits'
  }

  /** The frame that was sent last over a front has left from there. */
  noteLeft(instance: Instance): void {
    noteOfferLeft(instance, { isSure: true })
    const followed = assignmentOf(instance)
    const { offer } = instance
    if (followed === null || offer?.pushId !== followed.push.pushId) return
    // One that has answered meanwhile is not waited for.
    this.#noteOnTarget(instance, followed, offer.ended === null && !offer.hasStatus)
  }

  /**
   * A frame went out. `opensAgain`: an answer to it is waited for, also where the target had ended. One that never
   * answered a push which has ended stays so until it answers: that the push reached a part only holds until then. So
   * does one that an open push has waited for long enough in all.
   */
  #noteOnTarget(instance: Instance, followed: FollowedPush, opensAgain: boolean): void {
    const { clock } = this.#parts.deps
    const now = clock.now()
    const target = followed.targets.get(instance.uid)
    const reopened = ['gone', 'applied', ...(isPushOpen(followed) ? ['straggler'] : [])]
    const isBack = opensAgain && target !== undefined && reopened.includes(target.state)
    if (isBack) {
      const isMoved = isWaitedOut(followed, target, pollSlackMs(instance))
        ? moveTarget(followed, target, 'straggler', clock, errorOfEnd('no_answer'))
        : moveTarget(followed, target, 'offered', clock)
      if (isMoved) this.#parts.writer.target({ pushId: followed.push.pushId, target })
    }
    if (followed.push.sentAt === null) followed.push.sentAt = now
    else if (!isBack) return
    followed.push.updatedAt = now
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  /** Look at many instances, some in each turn of the event loop; each is offered what it is assigned by then. */
  considerAll(instances: Iterable<Instance>): void {
    this.#considerInTurns(instances)
  }

  /** The same where offers to some of them were stored with this push: these begin as their instances are looked at. */
  fanOut(followed: FollowedPush, instances: Iterable<Instance>): void {
    followed.beginning++
    this.#considerInTurns(instances, () => followed.beginning--)
  }

  #considerInTurns(instances: Iterable<Instance>, done?: () => void): void {
    const { deps } = this.#parts
    inChunks(deps.timers, instances, (instance) => this.consider(instance), done, paceOf(deps))
  }

  /** Each second: repeat what is overdue. */
  tick(): void {
    // Not while the last look is still going on.
    if (this.#isLooking) return
    this.#isLooking = true
    inChunks(
      this.#parts.deps.timers,
      [...this.#parts.state.outstanding],
      (instance) => {
        const { offer, connection } = instance
        const isDone = offer === null || offer.ended !== null
        if (isDone && !this.#commits.has(instance)) this.#parts.state.outstanding.delete(instance)
        else if (connection !== null && connection.transport === 'ws') this.consider(instance)
      },
      () => {
        this.#isLooking = false
      },
    )
  }
}

/** Does an instance that joins now still count as a target of the push? */
function isOpenTo(followed: FollowedPush, uid: string): boolean {
  const { push, isSuperseded, isStaged, scope } = followed
  if (push.status !== 'pending' || isSuperseded || scope?.has(uid) === false) return false
  return isStaged || !isDecidedWithoutJoiners(followed)
}

/**
 * Has a target applied the push, and has each that was planned for ended? Then joiners do not count: else the push
 * would stay open for as long as instances keep coming.
 */
function isDecidedWithoutJoiners(followed: FollowedPush): boolean {
  return followed.push.counts.applied > 0 && openTargetsOf(followed) !== 'planned'
}

function toMessage({ id, generation }: Workload, { push, body }: FollowedPush): ServerMessage {
  const assignment = { workloadId: id, generation }
  return { remoteConfig: { hash: Buffer.from(push.hash, 'hex'), body, assignment } }
}
