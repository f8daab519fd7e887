import type { AgentConnection } from '../../opamp/fleet-port.ts'
import { tellAgent } from '../../opamp/tell-agent.ts'
import { goneAfterMs } from '../decide/poll-rhythm.ts'
import { judgeHealth } from '../decide/status.ts'
import { type ComponentLists, interruptComponentWait } from '../state/component-lists.ts'
import { deriveWorkload } from '../state/derive.ts'
import type { Instance, Workload } from '../state/model.ts'
import { forgetOfferConnection, settleEarlierOffers, withdrawOffer } from '../state/offer-state.ts'
import type { FleetParts } from '../state/parts.ts'
import type { ConfigReports } from './config-reports.ts'
import { OUR_CAPABILITIES } from './new-instance.ts'

/** How long a live connection may leave the question open what it runs. */
const UNKNOWN_MS = 60_000

/** No number goes on from this one: whoever speaks next is asked about what is missing in between. */
const NO_ONES_NUMBER = -2

/** Who is here: connections, graces, and the status of workloads that follows from them. */
export class Presence {
  readonly #parts: FleetParts
  readonly #reports: ConfigReports
  readonly #components: ComponentLists

  constructor(parts: FleetParts, reports: ConfigReports, components: ComponentLists) {
    this.#parts = parts
    this.#reports = reports
    this.#components = components
  }

  /** A live instance has changed in something that its workload's record follows from. */
  touch(instance: Instance, workload: Workload): void {
    if (workload.live.has(instance)) workload.live.put(instance)
    this.#parts.writer.deriveSoon(workload)
  }

  /** An instance talks on this connection from now on. */
  bind(instance: Instance, connection: AgentConnection): void {
    const before = instance.connection
    if (before === connection) return
    if (before !== null) this.#forgetOn(before, instance)
    instance.rival = before
    instance.connection = connection
    // What was sent on the old connection and not answered there is settled by what it says on this one.
    settleEarlierOffers(instance)
    instance.hasBeenAnswered = false
    instance.hasAskedFullState = false
    instance.askedComponentsHash = null
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
      instance.connectedAtMs = this.#parts.deps.clock.monotonicMs()
      // A poller has one connection for all its polls: what was sent or ended on it before it went is not of this one.
      forgetOfferConnection(instance)
    }
    if (isBack) this.#reports.returned(instance)
  }

  /** It starts from the beginning on a connection that did not end: what it was applying was lost with its process. */
  startedAnew(instance: Instance): void {
    this.#reports.lost(instance)
    forgetOfferConnection(instance)
    this.#reports.returned(instance)
  }

  /** Two polled under this uid: what was said may be of the other one, and is asked again of the one that keeps it. */
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

  /** It has a workload since before, and has not said what it is in this process: that is waited for. */
  awaitDescription(instance: Instance): void {
    instance.undescribedSinceMs = this.#parts.deps.clock.monotonicMs()
    this.#parts.state.awaitingDescription.add(instance)
  }

  /** It has said what it is, or left. */
  endDescriptionWait(instance: Instance): void {
    instance.undescribedSinceMs = null
    this.#parts.state.awaitingDescription.delete(instance)
  }

  /** It was asked, and does not say: from now on it is taken as what its workload is. */
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
    this.#parts.writer.event({
      workloadId: workload.id,
      instanceUid: instance.uid,
      podName: instance.podName,
      eventType,
      version: eventType === 'disconnected' ? '' : instance.version,
      prevVersion,
      occurredAt: this.#parts.deps.clock.now(),
    })
  }

  /** Count an instance as live in its workload. */
  arrive(instance: Instance, workload: Workload): void {
    workload.live.put(instance)
    if (workload.graceUntilMs !== null) {
      workload.graceUntilMs = null
      this.#parts.state.inGrace.delete(workload)
    }
    if (workload.disconnectedAt !== null || workload.archivedAt !== null) {
      workload.disconnectedAt = null
      workload.archivedAt = null
      this.#parts.writer.workload(workload)
    }
    // Whoever lists a new workload is to see at once what it is; with more instances it can wait its turn.
    if (workload.live.count === 1 && deriveWorkload(workload, this.#parts.deps.clock.monotonicMs()))
      this.#parts.writer.workload(workload)
    this.#parts.writer.deriveSoon(workload)
  }

  /** Take an instance out of the count of its workload; the grace begins when nobody is left. */
  uncount(instance: Instance, workload: Workload): void {
    workload.live.remove(instance)
    if (workload.live.count === 0) this.startGrace(workload)
    this.#parts.writer.deriveSoon(workload)
  }

  /** An instance is no longer here: its connection ended, or it said goodbye. */
  leave(instance: Instance, how: 'goodbye' | 'lost' | 'dropped-by-us'): void {
    const { connection, workload } = instance
    if (connection === null) return
    this.#forgetOn(connection, instance)
    this.#parts.state.httpInstances.delete(instance)
    this.#parts.state.unknownReported.delete(instance)
    interruptComponentWait(this.#parts.state, instance)
    if (how === 'lost') this.#reports.lost(instance)
    instance.connection = null
    instance.rival = null
    instance.evictedConnectionId = null
    instance.awaySinceMs = this.#parts.deps.clock.monotonicMs()
    instance.hasDeparted = how === 'goodbye'
    this.#parts.state.away.add(instance)
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
    const { graceMs } = this.#parts.deps
    const longest = new Map<string, number>()
    for (const uid of this.#parts.state.rhythms.keys()) {
      const home = this.#parts.state.homes.get(uid) ?? ''
      longest.set(home, Math.max(longest.get(home) ?? 0, this.#parts.state.startGraceMs(uid, graceMs)))
    }
    for (const workload of this.#parts.state.workloads.values())
      this.startGrace(workload, longest.get(workload.id) ?? graceMs)
  }

  startGrace(workload: Workload, graceMs = this.#parts.deps.graceMs): void {
    if (workload.status === 'disconnected' || workload.graceUntilMs !== null) return
    workload.graceUntilMs = this.#parts.deps.clock.monotonicMs() + graceMs
    this.#parts.state.inGrace.add(workload)
  }

  /** Each second: what only time changes. */
  tick(): void {
    const nowMs = this.#parts.deps.clock.monotonicMs()
    this.#endGraces(nowMs)
    this.#forgetAway(nowMs)
    this.#dropSilentPollers(nowMs)
    for (const instance of this.#parts.state.unknownReported) {
      if (instance.fullStateAskedMs === 0 || nowMs - instance.fullStateAskedMs < UNKNOWN_MS) continue
      this.#reports.becomeNone(instance)
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
      if (workload.graceUntilMs === null || nowMs < workload.graceUntilMs) continue
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
      if (instance.awaySinceMs === null || nowMs - instance.awaySinceMs < this.#parts.deps.graceMs) continue
      this.forget(instance)
      this.#reports.gone(instance)
    }
  }

  /** Nothing is remembered of this instance any more. */
  forget(instance: Instance): void {
    this.#parts.state.away.delete(instance)
    this.#parts.state.outstanding.delete(instance)
    this.#parts.state.unknownReported.delete(instance)
    this.#parts.state.awaitingComponents.delete(instance)
    this.#parts.state.awaitingDescription.delete(instance)
    this.#parts.state.instances.delete(instance.uid)
    if (instance.rhythm.lastMs !== null && instance.workload !== null)
      this.#parts.state.keepRhythm(instance.uid, instance.rhythm)
    instance.workload?.instances.delete(instance)
  }

  /** Its workload was deleted: it is asked for its full state, and registers as new. */
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
      attributes: null,
      reported: { isKnown: false },
      hasAskedFullState: true,
      fullStateAskedMs: deps.clock.monotonicMs(),
    } satisfies Partial<Instance>)
    const ask = { capabilities: OUR_CAPABILITIES, reportFullState: true }
    // A poller, and one whose socket had no room, is asked by the answer to its next message.
    const outcome = tellAgent(instance.connection, instance.uidOnWire, ask)
    if (outcome === 'dropped') instance.hasAskedFullState = false
  }

  #dropSilentPollers(nowMs: number): void {
    for (const instance of this.#parts.state.httpInstances) {
      if (nowMs - instance.lastMessageMs >= goneAfterMs(instance.rhythm)) this.leave(instance, 'lost')
    }
  }

  /** Note the health of a report; an unhealthy turn is timed from its beginning. */
  noteHealth(instance: Instance): void {
    const isBad = judgeHealth(instance.health) !== 'healthy'
    if (!isBad) instance.unhealthySinceMs = null
    else instance.unhealthySinceMs ??= this.#parts.deps.clock.monotonicMs()
  }
}
