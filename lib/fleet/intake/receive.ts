import { uuidv7Bytes } from '../../ids.ts'
import { encodeServerToAgent } from '../../opamp/codec.ts'
import type { AboutReport, AgentConnection, FleetPort } from '../../opamp/fleet-port.ts'
import { type AgentReport, SERVER_CAPABILITIES, type ServerMessage } from '../../opamp/report.ts'
import { canReport, isCapable } from '../decide/abilities.ts'
import { notePoll } from '../decide/poll-rhythm.ts'
import { classifyAgent, identifyWorkload, isExcludedFromConfigs } from '../decide/workload-identity.ts'
import type { OfferEngine } from '../offers/offer-engine.ts'
import { HOMES_MAX } from '../state/agent-limits.ts'
import type { ComponentLists } from '../state/component-lists.ts'
import type { FleetDeps } from '../state/deps.ts'
import type { Instance, Workload } from '../state/model.ts'
import { type FleetState, toWorkload } from '../state/state.ts'
import type { WriteBehind } from '../state/write-behind.ts'
import type { ConfigReports } from './config-reports.ts'
import type { EffectiveConfigs } from './effective-configs.ts'
import { createInstance, FULL_STATE_BURST, FULL_STATE_REFILL_MS } from './new-instance.ts'
import type { Presence } from './presence.ts'

/** The capabilities this server has: it takes status and effective configs, and offers remote configs. */
export const OUR_CAPABILITIES =
  SERVER_CAPABILITIES.acceptsStatus |
  SERVER_CAPABILITIES.offersRemoteConfig |
  SERVER_CAPABILITIES.acceptsEffectiveConfig

/** How long after a goodbye something that was sent beside it may come. */
const ECHO_MS = 10_000

/** How long an agent that found no room is asked to wait; the protocol wants 30 s at least. */
const NO_ROOM_RETRY_MS = 30_000

type Answer = ReturnType<FleetPort['receive']>

/** Takes reports in: one synchronous step a message, without waiting for anything. */
export class Receiver implements FleetPort {
  readonly #deps: FleetDeps
  readonly #state: FleetState
  readonly #writer: WriteBehind
  readonly #presence: Presence
  readonly #offers: OfferEngine
  readonly #reports: ConfigReports
  readonly #effective: EffectiveConfigs
  readonly #components: ComponentLists
  messageCount = 0
  /** Messages of agents that found no room. */
  refusedCount = 0
  /** Set on a stop or a loss of the lock: what ends from then on was ended by us. */
  isDropping = false

  constructor(parts: {
    deps: FleetDeps
    state: FleetState
    writer: WriteBehind
    presence: Presence
    offers: OfferEngine
    reports: ConfigReports
    effective: EffectiveConfigs
    components: ComponentLists
  }) {
    this.#deps = parts.deps
    this.#state = parts.state
    this.#writer = parts.writer
    this.#presence = parts.presence
    this.#offers = parts.offers
    this.#reports = parts.reports
    this.#effective = parts.effective
    this.#components = parts.components
    this.#effective.resolved = (instance) => this.#reclassify(instance)
  }

  connectionClosed(connection: AgentConnection, options: { isOurDoing?: boolean } = {}): void {
    const bound = this.#state.byConnection.get(connection.id)
    const how = this.isDropping || options.isOurDoing === true ? 'dropped-by-us' : 'lost'
    for (const instance of [...(bound ?? [])]) this.#presence.leave(instance, how)
    this.#state.byConnection.delete(connection.id)
  }

  receive(connection: AgentConnection, report: AgentReport, about: AboutReport): Answer {
    this.messageCount++
    const known = this.#state.instances.get(report.uid)
    if (about.isToldApart === true && known !== undefined) this.#presence.toldApart(known)
    if (report.requestsInstanceUid || about.isDuplicate === true) return plain(this.#newUid())
    if (report.isDisconnect) return this.#takeGoodbye(known, connection, report)
    if (known !== undefined && this.#isEcho(known, connection, report))
      return plain({ capabilities: OUR_CAPABILITIES })
    const noRoom = this.#checkRoom(known, connection) ?? this.#checkWorkloadRoom(report)
    if (noRoom !== null) return plain(noRoom)
    const instance = known ?? this.#meet(report)
    const duplicate = this.#checkRival(instance, connection, report)
    if (duplicate !== null) return plain(duplicate)
    const wasLive = instance.workload?.live.has(instance) ?? false
    const isRepeated = instance.sequenceNum === report.sequenceNum && instance.connection === connection
    if (isNewStart(instance, connection, report)) this.#presence.startedAnew(instance)
    const hasGap = this.#noteSequence(instance, connection, report)
    // Words were lost together with the old connection: what it runs is not known until it says so.
    if (hasGap && instance.connection !== connection) instance.reported = { isKnown: false }
    this.#presence.bind(instance, connection)
    this.#merge(instance, report, wasLive)
    const isRetransmission = about.isRetransmission === true
    const message = this.#answer(instance, report, hasGap, isRetransmission)
    return this.#withOffer(instance, connection, message, isRepeated || isRetransmission)
  }

  /** Whoever is new to a connection, or to the process, must find room there. */
  #checkRoom(known: Instance | undefined, connection: AgentConnection): ServerMessage | null {
    if (known?.connection === connection) return null
    const { perConnection, inAll } = this.#deps.agentLimits
    const carried = this.#state.byConnection.get(connection.id)?.size ?? 0
    const isFull = carried >= perConnection
    if (!isFull && (known !== undefined || this.#state.instances.size < inAll)) return null
    return this.#refuse(
      isFull
        ? `Cannot take another agent on this connection: it carries ${perConnection}, use one more`
        : `Cannot take another agent: there are ${inAll}`,
    )
  }

  /** A description that names a workload that is not there must find room for it: it stays when the agent is gone. */
  #checkWorkloadRoom({ attributes, uid }: AgentReport): ServerMessage | null {
    const { workloads } = this.#state
    const { workloads: most } = this.#deps.agentLimits
    if (attributes === null || workloads.size < most) return null
    if (workloads.has(identifyWorkload(attributes, uid).id)) return null
    return this.#refuse(`Cannot take another workload: there are ${most}, delete some that are gone`)
  }

  #refuse(message: string): ServerMessage {
    this.refusedCount++
    return { errorResponse: { type: 'unavailable', message, retryAfterMs: NO_ROOM_RETRY_MS } }
  }

  #newUid(): ServerMessage {
    return {
      capabilities: OUR_CAPABILITIES,
      newInstanceUid: uuidv7Bytes(this.#deps.clock.now(), this.#deps.random),
    }
  }

  #takeGoodbye(instance: Instance | undefined, connection: AgentConnection, report: AgentReport): Answer {
    if (instance?.connection != null) {
      if (instance.connection !== connection) return plain({ capabilities: OUR_CAPABILITIES })
      instance.sequenceNum = report.sequenceNum
      // What it says with its goodbye about a config still counts; its last health does not.
      if (report.remoteConfigStatus !== null) this.#reports.take(instance, report, false)
      this.#presence.leave(instance, 'goodbye')
      instance.departedOn = connection.id
    }
    return plain({ capabilities: OUR_CAPABILITIES })
  }

  /**
   * A beat that was sent beside the goodbye and came after it. An agent that starts again also begins with a bare
   * message and a small number: on another socket, with a number far from the goodbye's, or later.
   */
  #isEcho(instance: Instance, { id, transport }: AgentConnection, report: AgentReport): boolean {
    const { hasDeparted, departedOn, awaySinceMs, sequenceNum } = instance
    if (!hasDeparted || awaySinceMs === null || sequenceNum === null || report.attributes !== null)
      return false
    if (transport === 'ws' && id !== departedOn) return false
    const behind = sequenceNum - report.sequenceNum
    if (behind !== 0 && behind !== 1) return false
    return this.#deps.clock.monotonicMs() - awaySinceMs < ECHO_MS
  }

  #meet(report: AgentReport): Instance {
    const nowMs = this.#deps.clock.monotonicMs()
    const instance = createInstance(report.uid, report.uidOnWire, this.#deps.clock.now(), nowMs)
    this.#state.instances.set(report.uid, instance)
    instance.rhythm = this.#state.takeRhythm(report.uid)
    const home = this.#state.workloads.get(this.#state.homes.get(report.uid) ?? '')
    if (home !== undefined) {
      instance.workload = home
      home.instances.add(instance)
      // Until it says what it is, it is what its workload is.
      instance.type = home.type
      instance.isExcluded = !home.acceptsRemoteConfig
    }
    return instance
  }

  /**
   * Two sockets that both talk under one uid are two agents: the newcomer gets a new uid. One that continues
   * the numbers of the other is the same agent that moved.
   */
  #checkRival(instance: Instance, connection: AgentConnection, report: AgentReport): ServerMessage | null {
    if (instance.evictedConnectionId === connection.id) return this.#newUid()
    if (instance.connection === null || instance.connection === connection) return null
    if (instance.rival !== connection) return null
    if (report.sequenceNum === (instance.sequenceNum ?? -1) + 1) return null
    const newcomer = instance.connection
    newcomer.send(encodeServerToAgent(instance.uidOnWire, this.#newUid()))
    instance.evictedConnectionId = newcomer.id
    return null
  }

  /** Keep the sequence; true when messages were lost. The same number again is a retransmission. */
  #noteSequence(instance: Instance, connection: AgentConnection, report: AgentReport): boolean {
    const before = instance.sequenceNum
    instance.sequenceNum = report.sequenceNum
    const isSameConnection = instance.connection === connection
    if (before === null) return false
    if (report.sequenceNum === before + 1) return false
    if (report.sequenceNum === before) return !isSameConnection && report.attributes === null
    return true
  }

  #merge(instance: Instance, report: AgentReport, wasLive: boolean): void {
    const now = this.#deps.clock.now()
    const nowMs = this.#deps.clock.monotonicMs()
    if (instance.connection?.transport === 'http') instance.rhythm = notePoll(instance.rhythm, nowMs)
    instance.lastMessageAt = now
    instance.lastMessageMs = nowMs
    // The 16 bytes of a known agent are the same again; keeping these would keep every agent's last frame.
    if (report.uidOnWire.length !== 16 || instance.uidOnWire.length !== 16)
      instance.uidOnWire = report.uidOnWire
    const isFull = report.attributes !== null
    const hasNewCapabilities = report.hasCapabilities && report.capabilities !== instance.capabilities
    if (report.hasCapabilities) {
      instance.capabilities = report.capabilities
      instance.hasCapabilities = true
    }
    if (report.components !== null) {
      this.#components.take(instance, report.components)
      this.#reclassify(instance)
    }
    if (report.health !== null) {
      instance.health = report.health
      this.#presence.noteHealth(instance)
    }
    if (report.attributes !== null) this.#describe(instance, report.attributes, wasLive)
    else if (!wasLive && instance.workload !== null) this.#arriveAgain(instance, instance.workload)
    if (report.effectiveConfig !== null) this.#effective.take(instance, report.effectiveConfig)
    const { workload } = instance
    if (workload === null) return
    workload.lastSeenAt = now
    this.#writer.seen(workload)
    this.#storeRhythm(instance, workload)
    const isNews = this.#reports.take(instance, report, isFull)
    if (isNews) this.#deps.notices.configStatusReported(workload, instance)
    if (hasNewCapabilities) this.#reports.capabilitiesChanged(instance)
    if (isNews || hasNewCapabilities || report.health !== null || report.components !== null)
      this.#presence.touch(instance, workload)
  }

  /** What it was built with, or what it runs, is known anew. */
  #reclassify(instance: Instance): void {
    if (instance.attributes !== null) {
      instance.isExcluded = isExcludedFromConfigs(instance.attributes)
      instance.type = classifyAgent(instance.attributes, {
        capabilities: instance.capabilities,
        reportsComponents: instance.components !== null || instance.componentsHash !== '',
        runsPipelines: instance.runsPipelines,
      })
    }
    // Also one that has not said what it is counts with it.
    if (instance.workload !== null) this.#presence.touch(instance, instance.workload)
  }

  #describe(instance: Instance, attributes: ReadonlyMap<string, string>, wasLive: boolean): void {
    const identity = identifyWorkload(attributes, instance.uid)
    const version = attributes.get('service.version') ?? ''
    const formerVersion = instance.version
    const wasDescribed = instance.isDescribed
    instance.attributes = attributes
    instance.isDescribed = true
    instance.podName = attributes.get('k8s.pod.name') ?? ''
    if (version !== '' || !wasDescribed) instance.version = version
    const former = instance.workload
    const workload = this.#state.workloads.get(identity.id) ?? this.#createWorkload(identity, attributes)
    if (former !== null && former !== workload) this.#moveAway(instance, former, wasLive)
    instance.workload = workload
    workload.instances.add(instance)
    const displayName = attributes.get('service.name') ?? ''
    if (displayName !== '' && displayName !== workload.displayName) {
      this.#state.rename(workload, displayName)
      this.#writer.workload(workload)
    }
    this.#rememberHome(instance, workload)
    this.#storeHome(instance, workload)
    this.#presence.endDescriptionWait(instance)
    this.#reclassify(instance)
    if (!wasLive || former !== workload) this.#arrive(instance, workload, former)
    this.#presence.announce(instance, workload)
    if (formerVersion !== '' && version !== '' && version !== formerVersion && wasLive)
      this.#presence.event(instance, workload, 'version_changed', formerVersion)
    if (!instance.reported.isKnown && canReport(instance)) this.#state.unknownReported.add(instance)
  }

  #storeHome({ uid, lastMessageAt, storedIntervalMs }: Instance, workload: Workload): void {
    this.#writer.home({
      instanceUid: uid,
      workloadId: workload.id,
      seenAt: lastMessageAt,
      pollIntervalMs: storedIntervalMs === 0 ? null : storedIntervalMs,
    })
  }

  /** An interval that is longer than our start waits for others is stored, and again when it is another one. */
  #storeRhythm(instance: Instance, workload: Workload): void {
    const { storedIntervalMs: stored } = instance
    const intervalMs = Math.round(instance.rhythm.intervalMs)
    const { graceMs } = this.#deps
    const isOther = intervalMs > stored * 1.5 || intervalMs < stored / 1.5
    const isSlow = intervalMs > graceMs / 2
    if (isSlow ? !isOther : stored === 0 || intervalMs > graceMs / 4) return
    instance.storedIntervalMs = isSlow ? intervalMs : 0
    this.#storeHome(instance, workload)
  }

  #rememberHome({ uid }: Instance, workload: Workload): void {
    const { homes } = this.#state
    homes.delete(uid)
    homes.set(uid, workload.id)
    if (homes.size > HOMES_MAX) homes.delete(homes.keys().next().value!)
  }

  #createWorkload(
    identity: ReturnType<typeof identifyWorkload>,
    attributes: ReadonlyMap<string, string>,
  ): Workload {
    const now = this.#deps.clock.now()
    const workload = toWorkload({
      id: identity.id,
      fingerprintSource: identity.source,
      fingerprintKeys: identity.keys,
      displayName: attributes.get('service.name') ?? '',
      type: 'sdk',
      version: attributes.get('service.version') ?? '',
      status: 'connected',
      lastSeenAt: now,
      labels: {},
      trustedLabels: {},
      acceptsRemoteConfig: false,
      remoteConfigStatus: null,
      availableComponents: null,
      activeHash: null,
      activePushId: null,
      rolloutPushId: null,
      generation: 0,
      pushSeq: 0,
      disconnectedAt: null,
      archivedAt: null,
      createdAt: now,
    })
    this.#state.add(workload)
    this.#writer.workload(workload)
    return workload
  }

  /** Its description names another workload now: it leaves the one and joins the other. */
  #moveAway(instance: Instance, former: Workload, wasLive: boolean): void {
    this.#reports.gone(instance)
    former.instances.delete(instance)
    instance.offer = null
    if (instance.isAnnounced) this.#presence.event(instance, former, 'disconnected')
    instance.isAnnounced = false
    if (wasLive) this.#presence.uncount(instance, former)
  }

  /** It speaks without a description: it is where it was. */
  #arriveAgain(instance: Instance, workload: Workload): void {
    if (!instance.isDescribed) this.#presence.awaitDescription(instance)
    this.#arrive(instance, workload, workload)
    if (instance.isDescribed) this.#presence.announce(instance, workload)
  }

  /** An instance is live in a workload from now on. */
  #arrive(instance: Instance, workload: Workload, former: Workload | null): void {
    // A reconnect within the grace after our own start is no news: it was this process that had been away.
    instance.isAnnounced = former === workload && this.#state.knownAtStart.delete(instance.uid)
    this.#presence.arrive(instance, workload)
  }

  #answer(
    instance: Instance,
    report: AgentReport,
    hasGap: boolean,
    isRetransmission: boolean,
  ): ServerMessage {
    const message: ServerMessage = {}
    if (!instance.hasBeenAnswered) {
      message.capabilities = OUR_CAPABILITIES
      instance.hasBeenAnswered = true
    }
    if (report.attributes !== null) {
      instance.hasAskedFullState = false
    } else if (
      this.#needsFullState(instance, hasGap, isRetransmission) ||
      this.#effective.takeOwed(instance)
    ) {
      message.reportFullState = true
      instance.hasAskedFullState = true
    }
    if (this.#components.ask(instance)) message.reportAvailableComponents = true
    return message
  }

  #needsFullState(instance: Instance, hasGap: boolean, isRetransmission: boolean): boolean {
    const isMissing = !instance.isDescribed || (!instance.reported.isKnown && canReport(instance))
    // A poller that was asked and goes on as if it was not may never have got the answer.
    const mayBeLost = isRetransmission || (isMissing && instance.connection?.transport === 'http')
    const isDue = hasGap || (instance.hasAskedFullState ? mayBeLost : isMissing)
    const nowMs = this.#deps.clock.monotonicMs()
    if (!isDue || !takeFullStateToken(instance, nowMs)) return false
    // What is waited for is waited for since it was asked first.
    if (!instance.hasAskedFullState) instance.fullStateAskedMs = nowMs
    if (instance.workload !== null && !instance.reported.isKnown) this.#state.unknownReported.add(instance)
    return true
  }

  #withOffer(
    instance: Instance,
    connection: AgentConnection,
    message: ServerMessage,
    isRepeated: boolean,
  ): Answer {
    if (instance.workload === null || !isCapable(instance)) return plain(message)
    if (connection.transport !== 'http') {
      this.#offers.consider(instance)
      return plain(message)
    }
    const { due, pending } = this.#offers.answerPoll(instance, connection, isRepeated)
    return { message: due === null ? message : { ...message, ...due }, pendingOffer: pending }
  }
}

/** A poller that describes itself and counts from the beginning again: over HTTP no connection tells of a restart. */
function isNewStart({ sequenceNum }: Instance, { transport }: AgentConnection, report: AgentReport): boolean {
  if (transport !== 'http' || report.attributes === null || sequenceNum === null) return false
  return report.sequenceNum < sequenceNum
}

/** An agent may be asked for its full state a few times at once, and then only every so often. */
function takeFullStateToken(instance: Instance, nowMs: number): boolean {
  const refill = Math.floor((nowMs - instance.fullStateTokenMs) / FULL_STATE_REFILL_MS)
  const tokens = Math.min(FULL_STATE_BURST, instance.fullStateTokens + refill)
  if (tokens === 0) return false
  instance.fullStateTokens = tokens - 1
  instance.fullStateTokenMs = nowMs
  return true
}

const plain = (message: ServerMessage): Answer => ({ message, pendingOffer: null })
