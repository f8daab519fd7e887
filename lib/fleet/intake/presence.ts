import type { AgentConnection } from '../../opamp/fleet-port.ts'
import { goneAfterMs } from '../decide/poll-rhythm.ts'
import { DEGRADED_DELAY_MS, judgeHealth } from '../decide/status.ts'
import type { OfferEngine } from '../offers/offer-engine.ts'
import { type ComponentLists, interruptComponentWait } from '../state/component-lists.ts'
import type { FleetDeps } from '../state/deps.ts'
import { deriveWorkload } from '../state/derive.ts'
import type { Instance, Workload } from '../state/model.ts'
import type { FleetState } from '../state/state.ts'
import type { WriteBehind } from '../state/write-behind.ts'
import type { ConfigReports } from './config-reports.ts'

/** How long a live connection may leave the question open what it runs. */
const UNKNOWN_MS = 60_000

/** No number goes on from this one: whoever speaks next is asked about what is missing in between. */
const NO_ONES_NUMBER = -2

/** Who is here: connections, graces, and the status of workloads that follows from them. */
export class Presence {
  readonly #deps: FleetDeps
  readonly #state: FleetState
  readonly #writer: WriteBehind
  readonly #offers: OfferEngine
  readonly #reports: ConfigReports
  readonly #components: ComponentLists
  readonly #dirty = new Set<Workload>()

  constructor(
    deps: FleetDeps,
    state: FleetState,
    writer: WriteBehind,
    offers: OfferEngine,
    reports: ConfigReports,
    components: ComponentLists,
  ) {
    this.#deps = deps
    this.#state = state
    this.#writer = writer
    this.#offers = offers
    this.#reports = reports
    this.#components = components
    writer.beforeFlush = () => this.derive()
  }

  /** A live instance has changed in something that its workload's record follows from. */
  touch(instance: Instance, workload: Workload): void {
    if (workload.live.has(instance)) workload.live.put(instance)
    this.#deriveSoon(workload)
  }

  #deriveSoon(workload: Workload): void {
    this.#dirty.add(workload)
    this.#writer.schedule()
  }

  /** Bring all touched workloads up to date. */
  derive(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    for (const workload of this.#dirty) {
      if (workload.isDeleted) continue
      this.#watchHealth(workload, nowMs)
      if (deriveWorkload(workload, nowMs)) this.#writer.workload(workload)
      this.#deps.notices.workloadChanged(workload)
    }
    this.#dirty.clear()
  }

  #watchHealth(workload: Workload, nowMs: number): void {
    let isWaiting = false
    for (const { unhealthySinceMs: since } of workload.live.unhealthy)
      isWaiting ||= since !== null && nowMs - since < DEGRADED_DELAY_MS
    if (isWaiting) this.#state.healthWatch.add(workload)
    else this.#state.healthWatch.delete(workload)
  }

  /** An instance talks on this connection from now on. */
  bind(instance: Instance, connection: AgentConnection): void {
    const before = instance.connection
    if (before === connection) return
    if (before !== null) this.#forgetOn(before, instance)
    instance.rival = before
    instance.connection = connection
    // What was sent on the old connection and not answered there is settled by what it says on this one.
    instance.unansweredOtherHash = null
    instance.hasBeenAnswered = false
    instance.hasAskedFullState = false
    instance.askedComponentsHash = null
    const bound = this.#state.byConnection.get(connection.id) ?? new Set()
    bound.add(instance)
    this.#state.byConnection.set(connection.id, bound)
    if (connection.transport === 'http') this.#state.httpInstances.add(instance)
    else this.#state.httpInstances.delete(instance)
    if (instance.offer !== null && instance.offer.ended === null) this.#state.outstanding.add(instance)
    const isBack = instance.awaySinceMs !== null
    instance.awaySinceMs = null
    instance.hasDeparted = false
    this.#state.away.delete(instance)
    if (before === null) {
      instance.connectedAt = this.#deps.clock.now()
      this.#reconnect(instance)
    }
    if (isBack) this.#reports.returned(instance)
  }

  /** A poller that did not say goodbye starts from the beginning: what it was applying was lost with its process. */
  startedAnew(instance: Instance): void {
    this.#reports.lost(instance)
    this.#reconnect(instance)
    this.#reports.returned(instance)
  }

  /** Two polled under this uid: what was said may be of the other one, and is asked again of the one that keeps it. */
  toldApart(instance: Instance): void {
    instance.sequenceNum = NO_ONES_NUMBER
    instance.fullStateTokens = Math.max(1, instance.fullStateTokens)
    this.#reconnect(instance)
  }

  /** A poller has one connection for all its polls: what was sent or ended on it before it went is not of this one. */
  #reconnect({ offer }: Instance): void {
    if (offer !== null) Object.assign(offer, { lastSentOn: null, endedOn: null })
  }

  #forgetOn(connection: AgentConnection, instance: Instance): void {
    const bound = this.#state.byConnection.get(connection.id)
    bound?.delete(instance)
    if (bound?.size === 0) this.#state.byConnection.delete(connection.id)
  }

  /** It has a workload since before, and has not said what it is in this process: that is waited for. */
  awaitDescription(instance: Instance): void {
    instance.undescribedSinceMs = this.#deps.clock.monotonicMs()
    this.#state.awaitingDescription.add(instance)
  }

  /** It has said what it is, or left. */
  endDescriptionWait(instance: Instance): void {
    instance.undescribedSinceMs = null
    this.#state.awaitingDescription.delete(instance)
  }

  /** It was asked, and does not say: from now on it is taken as what its workload is. */
  #giveUpDescriptions(nowMs: number): void {
    for (const instance of this.#state.awaitingDescription) {
      const { undescribedSinceMs: sinceMs, workload } = instance
      if (sinceMs !== null && nowMs - sinceMs < UNKNOWN_MS) continue
      this.endDescriptionWait(instance)
      if (workload === null) continue
      this.announce(instance, workload)
      if (!instance.reported.isKnown) this.#reports.becomeNone(instance)
      this.touch(instance, workload)
      this.#offers.consider(instance)
    }
  }

  /** Write into the workload's history that it is connected, once. */
  announce(instance: Instance, workload: Workload): void {
    if (instance.isAnnounced) return
    instance.isAnnounced = true
    this.event(instance, workload, 'connected')
  }

  /** Write into the workload's history. */
  event(
    instance: Instance,
    workload: Workload,
    eventType: 'connected' | 'disconnected' | 'version_changed',
    prevVersion = '',
  ): void {
    this.#writer.event({
      workloadId: workload.id,
      instanceUid: instance.uid,
      podName: instance.podName,
      eventType,
      version: eventType === 'disconnected' ? '' : instance.version,
      prevVersion,
      occurredAt: this.#deps.clock.now(),
    })
  }

  /** Count an instance as live in its workload. */
  arrive(instance: Instance, workload: Workload): void {
    workload.live.put(instance)
    if (workload.graceUntilMs !== null) {
      workload.graceUntilMs = null
      this.#state.inGrace.delete(workload)
    }
    if (workload.disconnectedAt !== null || workload.archivedAt !== null) {
      workload.disconnectedAt = null
      workload.archivedAt = null
      this.#writer.workload(workload)
    }
    // Whoever lists a new workload is to see at once what it is; with more instances it can wait its turn.
    if (workload.live.count === 1 && deriveWorkload(workload, this.#deps.clock.monotonicMs()))
      this.#writer.workload(workload)
    this.#deriveSoon(workload)
  }

  /** Take an instance out of the count of its workload; the grace begins when nobody is left. */
  uncount(instance: Instance, workload: Workload): void {
    workload.live.remove(instance)
    if (workload.live.count === 0) this.startGrace(workload)
    this.#deriveSoon(workload)
  }

  /** An instance is no longer here: its connection ended, or it said goodbye. */
  leave(instance: Instance, how: 'goodbye' | 'lost' | 'dropped-by-us'): void {
    const { connection, workload } = instance
    if (connection === null) return
    this.#forgetOn(connection, instance)
    this.#state.httpInstances.delete(instance)
    this.#state.unknownReported.delete(instance)
    interruptComponentWait(this.#state, instance)
    if (how === 'lost') this.#reports.lost(instance)
    instance.connection = null
    instance.rival = null
    instance.evictedConnectionId = null
    instance.awaySinceMs = this.#deps.clock.monotonicMs()
    instance.hasDeparted = how === 'goodbye'
    this.#state.away.add(instance)
    this.endDescriptionWait(instance)
    // Of one that never said what it is there is nothing to remember.
    if (workload === null && !instance.isDescribed) this.forget(instance)
    if (workload === null) return
    if (instance.isAnnounced) this.event(instance, workload, 'disconnected')
    instance.isAnnounced = false
    if (how === 'goodbye') this.#reports.gone(instance)
    this.uncount(instance, workload)
  }

  /** At our start everybody may still be on its way: who polls slowly, for longer than others. */
  startGraces(): void {
    const { graceMs } = this.#deps
    const longest = new Map<string, number>()
    for (const uid of this.#state.rhythms.keys()) {
      const home = this.#state.homes.get(uid) ?? ''
      longest.set(home, Math.max(longest.get(home) ?? 0, this.#state.startGraceMs(uid, graceMs)))
    }
    for (const workload of this.#state.workloads.values())
      this.startGrace(workload, longest.get(workload.id) ?? graceMs)
  }

  startGrace(workload: Workload, graceMs = this.#deps.graceMs): void {
    if (workload.status === 'disconnected' || workload.graceUntilMs !== null) return
    workload.graceUntilMs = this.#deps.clock.monotonicMs() + graceMs
    this.#state.inGrace.add(workload)
  }

  /** Each second: what only time changes. */
  tick(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    this.#endGraces(nowMs)
    this.#forgetAway(nowMs)
    this.#dropSilentPollers(nowMs)
    for (const instance of this.#state.unknownReported) {
      if (instance.fullStateAskedMs === 0 || nowMs - instance.fullStateAskedMs < UNKNOWN_MS) continue
      this.#reports.becomeNone(instance)
      this.#offers.consider(instance)
    }
    this.#giveUpDescriptions(nowMs)
    for (const instance of this.#components.giveUp()) {
      if (instance.workload !== null) this.touch(instance, instance.workload)
      this.#offers.consider(instance)
    }
    for (const workload of this.#state.healthWatch) this.#deriveSoon(workload)
  }

  #endGraces(nowMs: number): void {
    for (const workload of this.#state.inGrace) {
      if (workload.graceUntilMs === null || nowMs < workload.graceUntilMs) continue
      this.#state.inGrace.delete(workload)
      workload.graceUntilMs = null
      if (workload.live.count > 0) continue
      workload.status = 'disconnected'
      workload.disconnectedAt = this.#deps.clock.now()
      this.#writer.workload(workload)
      this.#deps.notices.workloadChanged(workload)
    }
  }

  #forgetAway(nowMs: number): void {
    for (const instance of this.#state.away) {
      if (instance.awaySinceMs === null || nowMs - instance.awaySinceMs < this.#deps.graceMs) continue
      this.forget(instance)
      this.#reports.gone(instance)
    }
  }

  /** Nothing is remembered of this instance any more. */
  forget(instance: Instance): void {
    this.#state.away.delete(instance)
    this.#state.outstanding.delete(instance)
    this.#state.unknownReported.delete(instance)
    this.#state.awaitingComponents.delete(instance)
    this.#state.awaitingDescription.delete(instance)
    this.#state.instances.delete(instance.uid)
    if (instance.rhythm.lastMs !== null && instance.workload !== null)
      this.#state.keepRhythm(instance.uid, instance.rhythm)
    instance.workload?.instances.delete(instance)
  }

  #dropSilentPollers(nowMs: number): void {
    for (const instance of this.#state.httpInstances) {
      if (nowMs - instance.lastMessageMs >= goneAfterMs(instance.rhythm)) this.leave(instance, 'lost')
    }
  }

  /** Note the health of a report; an unhealthy turn is timed from its beginning. */
  noteHealth(instance: Instance): void {
    const isBad = judgeHealth(instance.health) !== 'healthy'
    if (!isBad) instance.unhealthySinceMs = null
    else instance.unhealthySinceMs ??= this.#deps.clock.monotonicMs()
  }
}
