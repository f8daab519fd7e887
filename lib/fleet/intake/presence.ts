import type { FleetClock } from '../../clock.ts'
import type { AboutReport, AgentConnection } from '../../opamp/fleet-port.ts'
import { tellAgent } from '../../opamp/tell-agent.ts'
import { inTurns } from '../../turns.ts'
import { goneAfterMs } from '../decide/poll-rhythm.ts'
import { beginOffer } from '../state/begin-offer.ts'
import { type ComponentLists, interruptComponentWait } from '../state/component-lists.ts'
import { deriveWorkload } from '../state/derive.ts'
import { LOAD_CHUNK } from '../state/load-fleet.ts'
import type { Instance, Workload } from '../state/model.ts'
import { forgetOfferConnection, leaveEarlierOffers, withdrawOffer } from '../state/offer-state.ts'
import type { FleetParts } from '../state/parts.ts'
import type { ConfigReports } from './config-reports.ts'
import type { HealthTimes } from './health-times.ts'
import { OUR_CAPABILITIES } from './new-instance.ts'
import type { TargetLosses } from './target-losses.ts'
import { CONNECTION_TOKENS, tokensLeft } from './tokens.ts'

/** How long to wait for a live instance to say what it is and what it runs. */
const UNKNOWN_MS = 60_000

/** A sequence number that no message continues: whatever comes next is a gap, and the full state is asked for. */
const NO_ONES_NUMBER = -2

/** How long ago a message was said, at most and at least. */
export type SaidAgo = Pick<AboutReport, 'agoMs' | 'leastAgoMs'>

/** Between when something was said, by the machine's clock. */
export const saidBetween = (
  { machine }: FleetClock,
  { agoMs = 0, leastAgoMs = 0 }: SaidAgo,
): Instance['boundMs'] => ({
  earliest: machine.monotonicMs() - agoMs,
  latest: machine.monotonicMs() - leastAgoMs,
})

/** Note when one said goodbye of which nothing is known any more. */
export const noteDeparture = (
  { deps, state }: Pick<FleetParts, 'deps' | 'state'>,
  uid: string,
  { earliest }: Instance['boundMs'],
): void => state.departures.note(uid, earliest, deps.clock.machine.monotonicMs())

/** Keeps which instances are connected, away within the grace, or gone, and when a workload becomes disconnected. */
export class Presence {
  readonly #parts: FleetParts
  readonly #reports: ConfigReports
  readonly #losses: TargetLosses
  readonly #components: ComponentLists
  readonly #health: HealthTimes

  constructor(
    parts: FleetParts,
    intake: {
      reports: ConfigReports
      losses: TargetLosses
      components: ComponentLists
      health: HealthTimes
    },
  ) {
    this.#parts = parts
    this.#reports = intake.reports
    this.#losses = intake.losses
    this.#components = intake.components
    this.#health = intake.health
  }

  /** A live instance has changed in something that its workload's record follows from. */
  touch(instance: Instance, workload: Workload): void {
    if (workload.live.has(instance)) workload.live.put(instance)
    this.#parts.writer.deriveSoon(workload)
  }

  /** An instance talks on this connection from now on. */
  bind(instance: Instance, connection: AgentConnection, said: SaidAgo): void {
    const before = instance.connection
    if (before === connection) return
    if (before !== null) this.#forgetOn(before, instance)
    instance.rival = before
    instance.connection = connection
    this.#parts.state.kept.moved(instance)
    const nowMs = this.#parts.deps.clock.heardMs()
    instance.boundMs = saidBetween(this.#parts.deps.clock, said)
    leaveEarlierOffers(instance)
    instance.formerNum = null
    instance.hasBeenAnswered = false
    instance.hasAskedFullState = false
    instance.askedComponentsHash = null
    instance.unasked = null
    const bound = this.#parts.state.byConnection.get(connection.id) ?? new Set()
    bound.add(instance)
    this.#parts.state.byConnection.set(connection.id, bound)
    if (connection.transport === 'http') this.#parts.state.httpInstances.add(instance)
    else this.#parts.state.httpInstances.delete(instance)
    if (instance.offer !== null && instance.offer.ended === null) this.#parts.state.outstanding.add(instance)
    const isBack = instance.awaySinceMs !== null
    instance.awaySinceMs = null
    instance.hasDeparted = false
    this.#parts.state.away.delete(instance)
    if (before === null) {
      instance.connectedAt = this.#parts.deps.clock.now()
      instance.connectedAtMs = this.#parts.deps.clock.heardMs()
      // What it said before it went may not be so any more; of one that was known before this process nothing is known.
      const isKnown = instance.health !== null || (!isBack && instance.workload !== null)
      // Counted from its first return, so that one which comes and goes again and again holds nothing up for ever.
      if (isKnown) instance.healthAwaitedSinceMs ??= nowMs
      // A poller keeps one connection object for all its polls: after an absence it counts as a new connection.
      forgetOfferConnection(instance)
    }
    if (isBack) this.#losses.returned(instance)
  }

  /**
   * The agent restarted while its connection stayed open: what it was applying was lost with its process. Of a poller that
   * was away since, it was judged as it left whether that was lost.
   */
  startedAnew(instance: Instance): void {
    if (instance.connection !== null) this.#losses.lost(instance, instance.connection.id)
    instance.formerNum = instance.sequenceNum
    forgetOfferConnection(instance)
    // The process that was asked for the list of components may have died before it answered.
    interruptComponentWait(this.#parts.state, instance)
    instance.askedComponentsHash = null
    // What it runs is not known until it says so again.
    instance.reported = { isKnown: false }
    this.#losses.returned(instance)
  }

  /** It counts on from where it was before it seemed to start anew: that was another agent under this uid. */
  goesOnAsBefore(instance: Instance): void {
    instance.formerNum = null
    this.#losses.wereAnothers(instance)
  }

  /** Two agents polled under one uid: what is known may be the other's, so whichever keeps the uid is asked. */
  toldApart(instance: Instance): void {
    instance.sequenceNum = NO_ONES_NUMBER
    instance.fullStateTokens = Math.max(1, instance.fullStateTokens)
    forgetOfferConnection(instance)
  }

  #forgetOn(connection: AgentConnection, instance: Instance): void {
    const bound = this.#parts.state.byConnection.get(connection.id)
    bound?.delete(instance)
    if (bound?.size === 0) this.#parts.state.byConnection.delete(connection.id)
  }

  /** Wait for the description of an instance whose workload is known from before but that has not described itself. */
  awaitDescription(instance: Instance): void {
    instance.undescribedSinceMs = this.#parts.deps.clock.heardMs()
    this.#parts.state.awaitingDescription.add(instance)
  }

  /** The instance has described itself, or left. */
  endDescriptionWait(instance: Instance): void {
    instance.undescribedSinceMs = null
    this.#parts.state.awaitingDescription.delete(instance)
  }

  /** Stop waiting for descriptions that do not come: such an instance counts as what its workload is. */
  #giveUpDescriptions(nowMs: number): void {
    for (const instance of this.#parts.state.awaitingDescription) {
      const { undescribedSinceMs: sinceMs, workload } = instance
      if (sinceMs !== null && nowMs - sinceMs < UNKNOWN_MS) continue
      this.endDescriptionWait(instance)
      if (workload === null) continue
      this.announce(instance, workload)
      if (!instance.reported.isKnown) this.#reports.becomeNone(instance)
      this.touch(instance, workload)
      this.#parts.tell({ kind: 'offer-due', instance })
    }
  }

  /**
   * Write into the workload's history that the instance is connected, once. One that reconnects over and over would fill
   * it: of its connections only some are written there.
   */
  announce(instance: Instance, workload: Workload): void {
    if (instance.isAnnounced || instance.isUntold) return
    if (!this.#takeConnectionToken(instance)) {
      instance.isUntold = true
      return
    }
    instance.isAnnounced = true
    this.event(instance, workload, 'connected')
  }

  #takeConnectionToken(instance: Instance): boolean {
    const nowMs = this.#parts.deps.clock.heardMs()
    const { connectionTokens, connectionTokenMs } = instance
    const tokens = tokensLeft(CONNECTION_TOKENS, connectionTokens, nowMs - connectionTokenMs)
    if (tokens === 0) return false
    instance.connectionTokens = tokens - 1
    instance.connectionTokenMs = nowMs
    return true
  }

  /** Write an event of the instance into the workload's history. */
  event(
    instance: Instance,
    workload: Workload,
    eventType: 'connected' | 'disconnected' | 'version_changed',
    { prevVersion = '', at = this.#parts.deps.clock.now() }: { prevVersion?: string; at?: Date } = {},
  ): void {
    this.#parts.writer.event({
      workloadId: workload.id,
      instanceUid: instance.uid,
      podName: instance.podName,
      eventType,
      version: eventType === 'disconnected' ? '' : instance.version,
      prevVersion,
      occurredAt: at,
    })
  }

  /** Count an instance as live in its workload. */
  arrive(instance: Instance, workload: Workload): void {
    workload.live.put(instance)
    workload.awaitedUntilMs = null
    if (workload.graceUntilMs !== null) {
      workload.graceUntilMs = null
      this.#parts.state.inGrace.delete(workload)
    }
    if (workload.disconnectedAt !== null || workload.archivedAt !== null) {
      workload.disconnectedAt = null
      workload.archivedAt = null
      this.#parts.writer.workload(workload)
    }
    // The first instance decides what a list shows of a workload, so its record follows at once; later ones can wait.
    if (workload.live.count === 1 && deriveWorkload(workload, this.#parts.deps.clock.heardMs()))
      this.#parts.writer.workload(workload)
    this.#parts.writer.deriveSoon(workload)
  }

  /** Take an instance out of the count of its workload; with the last one the workload's grace begins. */
  uncount(instance: Instance, workload: Workload): void {
    workload.live.remove(instance)
    if (workload.live.count === 0) this.startGrace(workload)
    this.#parts.writer.deriveSoon(workload)
  }

  /** An instance is no longer here: its connection ended, or it said goodbye. `heardAgoMs`: when its front was heard last. */
  leave(instance: Instance, how: 'goodbye' | 'lost' | 'dropped-by-us', heardAgoMs = 0): void {
    const { connection, workload } = instance
    if (connection === null) return
    beginOffer(this.#parts, instance)
    this.#forgetOn(connection, instance)
    this.#parts.state.httpInstances.delete(instance)
    this.#parts.state.unknownReported.delete(instance)
    interruptComponentWait(this.#parts.state, instance)
    if (how === 'lost') this.#losses.lost(instance, connection.id)
    instance.connection = null
    instance.rival = null
    instance.evictedConnectionId = null
    instance.awaySinceMs = this.#parts.deps.clock.heardMs()
    instance.hasDeparted = how === 'goodbye'
    const { id, place } = connection
    const isSilent = how === 'lost' && connection.transport === 'http'
    const at = this.#lastHeard(instance, isSilent ? null : heardAgoMs)
    instance.cutOff = how === 'dropped-by-us' && place !== undefined ? { id, place, at } : null
    this.#parts.state.away.add(instance)
    this.endDescriptionWait(instance)
    // There is nothing to remember of an instance that never described itself.
    if (workload === null && !instance.isDescribed) this.forget(instance)
    if (workload === null) return
    // Where muster lost the link to its front, the agent has noticed nothing, and most likely is still there.
    if (instance.cutOff === null) this.#announceEnd(instance, at)
    if (how === 'goodbye') this.#reports.gone(instance)
    this.uncount(instance, workload)
  }

  /**
   * When an instance that has left was there last: until its connection ended, until its front was heard last where that
   * fell silent, or until its own last message where it did (null). Its workload was seen then.
   */
  #lastHeard({ lastMessageAt, workload }: Instance, heardAgoMs: number | null): Date {
    if (heardAgoMs === null) return lastMessageAt
    const at = new Date(this.#parts.deps.clock.now().getTime() - heardAgoMs)
    if (workload !== null && at > workload.lastSeenAt) {
      workload.lastSeenAt = at
      this.#parts.writer.seen(workload)
    }
    return at
  }

  /** Write into the workload's history that the instance is not connected any more, and since when, once. */
  #announceEnd(instance: Instance, at: Date): void {
    if (instance.isAnnounced && instance.workload !== null)
      this.event(instance, instance.workload, 'disconnected', { at })
    instance.isAnnounced = false
    instance.isUntold = false
  }

  /** An agent that is away had said goodbye, or its socket had ended, before muster lost the link to its front. */
  hadLeft(instance: Instance, isGoodbye: boolean): void {
    const { cutOff } = instance
    const connectionId = cutOff?.id ?? null
    instance.cutOff = null
    instance.hasDeparted = isGoodbye
    this.#announceEnd(instance, cutOff?.at ?? instance.lastMessageAt)
    if (isGoodbye) this.#reports.gone(instance)
    else this.#losses.lost(instance, connectionId)
  }

  /** After the start of this process every workload has a grace; one with a slow poller has a longer one. */
  async startGraces(): Promise<void> {
    const { deps, state } = this.#parts
    const longest = new Map<string, number>()
    for await (const uids of inTurns(state.rhythms.keys(), LOAD_CHUNK)) {
      for (const uid of uids) {
        const home = state.homes.get(uid) ?? ''
        longest.set(home, Math.max(longest.get(home) ?? 0, state.startGraceMs(uid, deps.graceMs)))
      }
    }
    for await (const some of inTurns(state.workloads.values(), LOAD_CHUNK))
      for (const workload of some) {
        const graceMs = longest.get(workload.id) ?? deps.graceMs
        workload.awaitedUntilMs = deps.clock.heardMs() + graceMs
        this.startGrace(workload, graceMs)
      }
  }

  startGrace(workload: Workload, graceMs = this.#parts.deps.graceMs): void {
    if (workload.status === 'disconnected' || workload.graceUntilMs !== null) return
    workload.graceUntilMs = this.#parts.deps.clock.heardMs() + graceMs
    this.#parts.state.inGrace.add(workload)
  }

  /** Each second: end the graces and waits whose time is over. */
  tick(): void {
    const nowMs = this.#parts.deps.clock.heardMs()
    this.#endGraces(nowMs)
    this.#forgetAway(nowMs)
    this.#dropSilentPollers(nowMs)
    for (const instance of this.#parts.state.unknownReported) {
      if (instance.fullStateAskedMs === 0 || nowMs - instance.fullStateAskedMs < UNKNOWN_MS) continue
      if (this.#reports.becomeNone(instance) && instance.workload !== null)
        this.touch(instance, instance.workload)
      this.#parts.tell({ kind: 'offer-due', instance })
    }
    this.#giveUpDescriptions(nowMs)
    for (const instance of this.#components.giveUp()) {
      if (instance.workload !== null) this.touch(instance, instance.workload)
      this.#parts.tell({ kind: 'offer-due', instance })
    }
    for (const workload of this.#parts.state.healthWatch) this.#parts.writer.deriveSoon(workload)
  }

  #endGraces(nowMs: number): void {
    for (const workload of this.#parts.state.inGrace) {
      const { graceUntilMs } = workload
      if (graceUntilMs === null || nowMs < graceUntilMs) continue
      this.#parts.state.inGrace.delete(workload)
      workload.graceUntilMs = null
      if (workload.live.count > 0) continue
      workload.status = 'disconnected'
      workload.disconnectedAt = this.#parts.deps.clock.now()
      this.#parts.writer.workload(workload)
      this.#parts.deps.notices.workloadChanged(workload)
    }
  }

  #forgetAway(nowMs: number): void {
    for (const instance of this.#parts.state.away) {
      const { awaySinceMs } = instance
      if (awaySinceMs === null || nowMs - awaySinceMs < this.#parts.deps.graceMs) continue
      this.#announceEnd(instance, instance.cutOff?.at ?? instance.lastMessageAt)
      this.forget(instance)
      this.#reports.gone(instance)
    }
  }

  /** Drop everything that is held of this instance but its poll rhythm, which is kept for when it comes back. */
  forget(instance: Instance): void {
    this.#parts.state.away.delete(instance)
    this.#parts.state.outstanding.delete(instance)
    this.#parts.state.unknownReported.delete(instance)
    this.#parts.state.awaitingComponents.delete(instance)
    this.#parts.state.awaitingDescription.delete(instance)
    this.#parts.state.instances.delete(instance.uid)
    if (instance.hasDeparted) noteDeparture(this.#parts, instance.uid, instance.boundMs)
    this.#parts.state.kept.forget(instance)
    this.#health.over(instance.uid)
    if (instance.rhythm.lastMs !== null && instance.workload !== null)
      this.#parts.state.keepRhythm(instance.uid, instance.rhythm)
    instance.workload?.instances.delete(instance)
  }

  /** The instance's workload was deleted: ask it for its full state, with which it registers as new. */
  startOver(instance: Instance): void {
    const { deps, state } = this.#parts
    state.outstanding.delete(instance)
    if (instance.connection === null) {
      this.forget(instance)
      return
    }
    withdrawOffer(instance)
    Object.assign(instance, {
      workload: null,
      isDescribed: false,
      undescribedSinceMs: null,
      isAnnounced: false,
      isUntold: false,
      attributes: null,
      reported: { isKnown: false },
      hasAskedFullState: true,
      fullStateAskedMs: deps.clock.heardMs(),
    } satisfies Partial<Instance>)
    const ask = { capabilities: OUR_CAPABILITIES, reportFullState: true }
    // A poller, or an instance whose socket had no room, is asked by the answer to its next message.
    const outcome = tellAgent(instance.connection, instance.uidOnWire, ask)
    if (outcome === 'dropped') instance.hasAskedFullState = false
  }

  #dropSilentPollers(nowMs: number): void {
    for (const instance of this.#parts.state.httpInstances) {
      const { lastMessageMs, rhythm } = instance
      if (nowMs - lastMessageMs >= goneAfterMs(rhythm)) this.leave(instance, 'lost')
    }
  }
}
