import { uuidv7Bytes } from '../../ids.ts'
import type { AboutReport, AgentConnection, FleetPort } from '../../opamp/fleet-port.ts'
import { type AgentReport, askedBy, type ServerMessage } from '../../opamp/report.ts'
import { tellAgent } from '../../opamp/tell-agent.ts'
import { notePoll } from '../decide/poll-rhythm.ts'
import { beginOffer, recallOffer } from '../state/begin-offer.ts'
import type { ComponentLists } from '../state/component-lists.ts'
import type { Instance, Workload } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'
import { AgentHomes } from './agent-homes.ts'
import { AgentRoom, saysWhatItIs } from './agent-room.ts'
import type { ConfigReports } from './config-reports.ts'
import { Descriptions } from './descriptions.ts'
import type { EffectiveConfigs } from './effective-configs.ts'
import { askFullState, isPart, noteConfigReader } from './full-state.ts'
import type { HealthTimes } from './health-times.ts'
import { createInstance, OUR_CAPABILITIES } from './new-instance.ts'
import { noteDeparture, type Presence, type SaidAgo, saidBetween } from './presence.ts'

/** How long after a goodbye a message that was sent before it may still arrive. */
const ECHO_MS = 10_000

/** The answer to a message, and the instance that may be due an offer now. */
export interface Taken {
  message: ServerMessage
  /** Null where nothing is to be offered, as after a refusal or a goodbye. */
  heard: { instance: Instance; isRepeated: boolean } | null
}

/** Where and when a goodbye was said that is told of late. */
export interface LateGoodbye {
  /** The name of its connection; null for a poll. */
  place: string | null
  /** At most. */
  agoMs: number
  /** At least. */
  leastAgoMs: number
}

/** Takes reports in: each message in one synchronous step, so that two are never mixed. */
export class Receiver {
  readonly #parts: FleetParts
  readonly #presence: Presence
  readonly #reports: ConfigReports
  readonly #effective: EffectiveConfigs
  readonly #components: ComponentLists
  readonly #health: HealthTimes
  readonly #homes: AgentHomes
  readonly #descriptions: Descriptions
  readonly #room: AgentRoom
  messageCount = 0
  /** Set when this process stops: a connection that ends from then on was ended by muster and is no loss. */
  isDropping = false

  constructor(
    parts: FleetParts,
    intake: {
      presence: Presence
      reports: ConfigReports
      effective: EffectiveConfigs
      components: ComponentLists
      health: HealthTimes
    },
  ) {
    this.#parts = parts
    this.#presence = intake.presence
    this.#reports = intake.reports
    this.#effective = intake.effective
    this.#components = intake.components
    this.#health = intake.health
    this.#homes = new AgentHomes(parts)
    this.#descriptions = new Descriptions(parts, intake.presence, intake.reports, this.#homes)
    this.#room = new AgentRoom(parts)
  }

  /** Messages of agents that found no room. */
  get refusedCount(): number {
    return this.#room.refusedCount
  }

  /** An instance's effective config was read: it may change what type of agent the instance is. */
  effectiveConfigRead(instance: Instance): void {
    this.#descriptions.reclassify(instance)
  }

  /** The answer to this agent found no room on its connection. */
  answerNotSent(connection: AgentConnection, uid: string, answer: ServerMessage): void {
    const instance = this.#parts.state.instances.get(uid)
    if (instance?.connection !== connection) return
    if (answer.capabilities !== undefined) instance.hasBeenAnswered = false
    instance.unasked = { ...instance.unasked, ...askedBy(answer) }
  }

  connectionClosed(...[connection, options = {}]: Parameters<FleetPort['connectionClosed']>): void {
    const bound = this.#parts.state.byConnection.get(connection.id)
    const how = this.isDropping || options.isOurDoing === true ? 'dropped-by-us' : 'lost'
    for (const instance of [...(bound ?? [])]) this.#presence.leave(instance, how, options.heardAgoMs)
    this.#parts.state.byConnection.delete(connection.id)
    this.#parts.state.kept.connectionEnded(connection.id)
  }

  /** See `Fleet.agentForgotten`. */
  agentForgotten(connection: AgentConnection, uid: string): void {
    const instance = this.#parts.state.instances.get(uid)
    if (instance?.connection === connection) this.#presence.leave(instance, 'dropped-by-us')
  }

  /** See `Fleet.hadEnded`. Of the sockets that a former owner had, this one has nothing to count. */
  hadEnded(uid: string, place: string): void {
    const instance = this.#parts.state.instances.get(uid)
    if (instance?.connection === null && instance.cutOff?.place === place)
      this.#presence.hadLeft(instance, false)
  }

  /**
   * See `Fleet.hadSaidOfConfig`. Of one that was not heard of since this process decides nothing is kept but what it said: it
   * is awaited as before. What it said may be a repetition, like all that is told again.
   */
  hadSaidOfConfig(report: AgentReport, agoMs: number): void {
    if (report.remoteConfigStatus === null) return
    const known = this.#parts.state.instances.get(report.uid)
    if (known !== undefined && !this.#isUnheardSince(known, agoMs)) return
    if (known !== undefined && known.workload !== null)
      this.#tellOfStatus(known, this.#reports.hadSaid(known, report, agoMs))
    const home = known === undefined ? this.#homeOf(report.uid) : undefined
    if (home === undefined) return
    const instance = createInstance(report.uid, Uint8Array.from(report.uidOnWire), this.#parts.deps.clock)
    liveIn(instance, home)
    this.#reports.hadSaid(instance, report, agoMs)
  }

  /** See `Fleet.hadSaidGoodbye`. */
  hadSaidGoodbye(report: AgentReport, said: LateGoodbye): void {
    const { place, agoMs } = said
    const instance = this.#parts.state.instances.get(report.uid)
    if (instance === undefined) {
      this.#addDeparted(report, said, true)
      return
    }
    // A poller has one connection for all its polls, before and after. Over a socket that it has now it came back.
    const isPolling = place === null && instance.connection?.transport === 'http'
    const hasLeft = isPolling
      ? this.#isUnheardSince(instance, agoMs)
      : this.#mayHaveLeft(instance, place ?? undefined, agoMs) ||
        (this.#isUnheardSince(instance, agoMs) && goesOnAt(instance, place, report))
    // Where it has come back since, it had said of its config what it said all the same.
    if (hasLeft) this.#depart(instance, report, said, true)
    else this.hadSaidOfConfig(report, agoMs)
  }

  /**
   * Whether an agent may have said goodbye so long ago at this place. One whose link muster lost is most likely still at
   * that front, unless it was not heard of since. One of which a front elsewhere said again what it had said before may
   * have left a dead socket there.
   */
  #mayHaveLeft(instance: Instance, place: string | undefined, agoMs: number): boolean {
    const { connection, cutOff, hasDeparted, isSaidAgain } = instance
    if (hasDeparted) return false
    // Told beyond the limit of unconfirmed reports, over the link on which it is known.
    if (connection !== null && place !== undefined && connection.place === place) return true
    if (connection !== null && !isSaidAgain) return false
    const isThere = connection === null && cutOff !== null && cutOff.place === place
    return isThere || this.#isUnheardSince(instance, agoMs)
  }

  #isUnheardSince({ lastSaidMs }: Instance, agoMs: number): boolean {
    return lastSaidMs < this.#parts.deps.clock.machine.monotonicMs() - agoMs
  }

  receive(connection: AgentConnection, report: AgentReport, about: AboutReport): Taken {
    this.messageCount++
    const known = this.#parts.state.instances.get(report.uid)
    if (known !== undefined) beginOffer(this.#parts, known)
    if (about.isToldApart === true && known !== undefined) this.#presence.toldApart(known)
    if (report.requestsInstanceUid || about.isDuplicate === true) return plain(this.#newUid())
    if (report.isDisconnect) return this.#takeGoodbye(known, connection, report, about)
    if (known !== undefined && this.#isEcho(known, connection, report))
      return plain({ capabilities: OUR_CAPABILITIES })
    const isOvertaken =
      known === undefined
        ? this.#hasLeftSince(report, about)
        : this.#isOvertaken(known, connection, report, about)
    if (isOvertaken) return plain({})
    const noRoom = this.#room.check(known, connection, report)
    if (noRoom !== null) {
      // What became of a config takes no room: without it a push would never end.
      if (known?.connection === connection && report.remoteConfigStatus !== null)
        this.#takeConfigStatus(known, report, false)
      return plain(noRoom)
    }
    const instance = known ?? this.#addInstance(report.uid, report.uidOnWire)
    const duplicate = this.#checkRival(instance, connection, report)
    if (duplicate !== null) return plain(duplicate)
    const wasLive = instance.workload?.live.has(instance) ?? false
    const isRepeated = instance.sequenceNum === report.sequenceNum && instance.connection === connection
    const isStart = isNewStart(instance, connection, report, about)
    if (isStart) this.#presence.startedAnew(instance)
    const isFirstAgain = instance.sequenceNum === null && instance.workload !== null
    // A front has seen messages that it did not pass on.
    const isToldOfGap = about.isCaughtUp === false && isWhereItWas(instance, connection)
    const isUnsteady = this.#noteSequence(instance, connection, report)
    const hasGap = isToldOfGap || (isUnsteady && about.isCaughtUp !== true)
    if (hasGap && !isStart && instance.formerNum === report.sequenceNum - 1)
      this.#presence.goesOnAsBefore(instance)
    const mayLack = connection.transport === 'http' && !isStart && (isFirstAgain || hasGap)
    const isWhole =
      report.attributes !== null && !(mayLack && isPart(report, capabilitiesOf(instance, report)))
    // Messages were lost with the old connection or agent process: what it runs is not known until it says so again.
    if (hasGap && instance.connection !== connection) instance.reported = { isKnown: false }
    const { hasDeparted } = instance
    this.#presence.bind(instance, connection, about)
    if (hasDeparted) this.#homes.rememberWhereabouts(instance)
    const isConfigLost = noteConfigReader(instance, report, about.reader ?? null, isWhole)
    this.#merge(instance, report, { wasLive, isWhole, leastAgoMs: about.leastAgoMs })
    const isRetransmission = about.isRetransmission === true
    const lacks = { hasGap: hasGap || mayLack, isConfigLost, isRetransmission }
    const message = this.#answer(instance, isWhole, lacks)
    return { message, heard: { instance, isRepeated: isRepeated || isRetransmission } }
  }

  #newUid(): ServerMessage {
    return {
      capabilities: OUR_CAPABILITIES,
      newInstanceUid: uuidv7Bytes(this.#parts.deps.clock.now(), this.#parts.deps.random),
    }
  }

  #takeGoodbye(
    instance: Instance | undefined,
    connection: AgentConnection,
    report: AgentReport,
    said: SaidAgo,
  ): Taken {
    if (instance === undefined) this.#addDeparted(report, said)
    else if (
      instance.connection === connection ||
      (instance.cutOff === null && instance.connection === null && !instance.hasDeparted) ||
      this.#mayHaveLeft(instance, connection.place, said.agoMs ?? 0) ||
      hasMovedTo(instance, connection, report)
    ) {
      this.#depart(instance, report, said)
      instance.departedOn = connection.id
    }
    return plain({ capabilities: OUR_CAPABILITIES })
  }

  /** An agent that is here, or counts as away, has left. What is told of that late may repeat what it had said before. */
  #depart(instance: Instance, report: AgentReport, said: SaidAgo, isToldLate = false): void {
    // It was connected while another process decided: nobody waits for it any more.
    if (this.#parts.state.knownAtStart.delete(instance.uid)) instance.isAnnounced = true
    instance.sequenceNum = report.sequenceNum
    instance.boundMs = saidBetween(this.#parts.deps.clock, said)
    // What an agent says about a config with its goodbye still counts; the health in it does not.
    if (isToldLate) this.#reports.hadSaid(instance, report, said.agoMs ?? 0)
    else this.#reports.take(instance, report, false)
    if (instance.connection === null) {
      instance.awaySinceMs = this.#parts.deps.clock.heardMs()
      this.#presence.hadLeft(instance, true)
    } else this.#presence.leave(instance, 'goodbye')
    this.#homes.rememberWhereabouts(instance)
  }

  /**
   * Is this a heartbeat that was sent before the goodbye and arrived after it? An agent that starts again may begin
   * with a bare message, too, but on another socket, with a number far from the goodbye's, or later.
   */
  #isEcho(instance: Instance, { id, transport }: AgentConnection, report: AgentReport): boolean {
    const { hasDeparted, departedOn, awaySinceMs, sequenceNum } = instance
    if (!hasDeparted || awaySinceMs === null || sequenceNum === null || report.attributes !== null)
      return false
    if (transport === 'ws' && id !== departedOn) return false
    const behind = sequenceNum - report.sequenceNum
    if (behind !== 0 && behind !== 1) return false
    return this.#parts.deps.clock.heardMs() - awaySinceMs < ECHO_MS
  }

  /** An agent that is stored, and was not heard of since this process decides, had said goodbye before. */
  #addDeparted(report: AgentReport, said: SaidAgo, isToldLate = false): void {
    const { deps, state } = this.#parts
    if (!state.homes.has(report.uid) || state.instances.size >= deps.agentLimits.inAll) {
      noteDeparture(this.#parts, report.uid, saidBetween(deps.clock, said))
      return
    }
    const instance = this.#addInstance(report.uid, report.uidOnWire)
    // Its goodbye says nothing of its config: what it had said of that before, and is told later, is not older than anything.
    if (report.remoteConfigStatus === null) instance.lastSaidMs = Number.NEGATIVE_INFINITY
    state.away.add(instance)
    this.#depart(instance, report, said, isToldLate)
  }

  /** Whether an agent of which nothing is known has said goodbye after this. */
  #hasLeftSince({ uid }: AgentReport, said: SaidAgo): boolean {
    const { latest } = saidBetween(this.#parts.deps.clock, said)
    return this.#parts.state.departures.hasLeftSince(uid, latest)
  }

  #addInstance(uid: string, uidOnWire: Uint8Array): Instance {
    const instance = createInstance(uid, Uint8Array.from(uidOnWire), this.#parts.deps.clock)
    this.#parts.state.departures.forget(uid)
    this.#parts.state.instances.set(uid, instance)
    instance.rhythm = this.#parts.state.takeRhythm(uid)
    const home = this.#homeOf(uid)
    if (home !== undefined) {
      home.instances.add(instance)
      liveIn(instance, home)
    }
    return instance
  }

  /** The workload of an agent that is not known, as its last description named it. */
  #homeOf(uid: string): Workload | undefined {
    return this.#parts.state.workloads.get(this.#parts.state.homes.get(uid) ?? '')
  }

  /**
   * Whether this may have been said before the agent went to the connection that it has now, or had as it left: what a
   * front passes on late, or says again over a new link, says neither that the agent has come back nor that there are
   * two. Two agents are told apart by what they say next.
   */
  #isOvertaken(
    instance: Instance,
    connection: AgentConnection,
    report: AgentReport,
    said: AboutReport,
  ): boolean {
    const { rival, evictedConnectionId, sequenceNum, boundMs } = instance
    if (said.agoMs === undefined || isWhereItWas(instance, connection)) return false
    if (evictedConnectionId === connection.id) return false
    const { earliest, latest } = saidBetween(this.#parts.deps.clock, said)
    if (latest < boundMs.earliest) return true
    if (earliest >= boundMs.latest) return false
    // One that has gone on to a third connection counts on there, or begins with its description.
    return rival === connection || (report.attributes === null && report.sequenceNum <= (sequenceNum ?? -1))
  }

  /**
   * Two sockets on which messages with one uid alternate are two agents: the later one gets a new uid. A message that
   * continues the sequence of the other socket comes from the same agent, which moved.
   */
  #checkRival(instance: Instance, connection: AgentConnection, report: AgentReport): ServerMessage | null {
    if (instance.evictedConnectionId === connection.id) return this.#newUid()
    if (instance.connection === null || instance.connection === connection) return null
    if (instance.rival !== connection) return null
    if (report.sequenceNum === (instance.sequenceNum ?? -1) + 1) return null
    const newcomer = instance.connection
    tellAgent(newcomer, instance.uidOnWire, this.#newUid())
    instance.evictedConnectionId = newcomer.id
    return null
  }

  /** Keep the sequence number; true when messages were lost. The same number again is a retransmission. */
  #noteSequence(instance: Instance, connection: AgentConnection, report: AgentReport): boolean {
    const before = instance.sequenceNum
    instance.sequenceNum = report.sequenceNum
    const isSameConnection = instance.connection === connection
    if (before === null) return false
    if (report.sequenceNum === before + 1) return false
    if (report.sequenceNum === before) return !isSameConnection && report.attributes === null
    return true
  }

  #merge(
    instance: Instance,
    report: AgentReport,
    { wasLive, isWhole, leastAgoMs }: { wasLive: boolean; isWhole: boolean; leastAgoMs: number | undefined },
  ): void {
    const { clock } = this.#parts.deps
    const now = clock.now()
    const nowMs = clock.heardMs()
    if (instance.connection?.transport === 'http') instance.rhythm = notePoll(instance.rhythm, nowMs)
    instance.lastMessageAt = new Date(now.getTime() - (leastAgoMs ?? 0))
    // For part of that time nobody could be heard: it has been silent for no longer than since what came before.
    instance.lastMessageMs = Math.max(instance.lastMessageMs, nowMs - (leastAgoMs ?? 0))
    instance.lastSaidMs = clock.machine.monotonicMs() - (leastAgoMs ?? 0)
    instance.isSaidAgain = leastAgoMs !== undefined
    // A copy: the uid's bytes are a view into the frame, which may lie beside hundreds of others.
    if (report.uidOnWire.length !== 16 || instance.uidOnWire.length !== 16)
      instance.uidOnWire = Uint8Array.from(report.uidOnWire)
    const hasNewCapabilities = report.hasCapabilities && report.capabilities !== instance.capabilities
    if (report.hasCapabilities) {
      instance.capabilities = report.capabilities
      instance.hasCapabilities = true
    }
    if (report.components !== null) {
      this.#components.take(instance, report.components)
      this.#descriptions.reclassify(instance)
    }
    if (report.health !== null) {
      instance.health = report.health
      this.#health.note(instance)
    }
    if (report.attributes !== null) this.#descriptions.take(instance, report.attributes, wasLive)
    else if (!wasLive && instance.workload !== null)
      this.#descriptions.arriveAgain(instance, instance.workload)
    if (saysWhatItIs(report)) this.#parts.state.kept.countInstance(instance)
    if (report.effectiveConfig !== null) this.#effective.take(instance, report.effectiveConfig)
    const { workload } = instance
    if (workload === null) return
    workload.lastSeenAt = now
    this.#parts.writer.seen(workload)
    this.#homes.rememberRhythm(instance, workload)
    // What it can may say what it is.
    if (hasNewCapabilities) this.#descriptions.reclassify(instance)
    this.#takeConfigStatus(instance, report, isWhole)
    if (hasNewCapabilities) this.#reports.capabilitiesChanged(instance)
    if (hasNewCapabilities || report.health !== null || report.components !== null)
      this.#presence.touch(instance, workload)
  }

  #takeConfigStatus(instance: Instance, report: AgentReport, isWhole: boolean): void {
    this.#tellOfStatus(instance, this.#reports.take(instance, report, isWhole))
  }

  #tellOfStatus(instance: Instance, isNews: boolean): void {
    if (!isNews || instance.workload === null) return
    this.#parts.deps.notices.configStatusReported(instance.workload, instance)
    this.#presence.touch(instance, instance.workload)
  }

  #answer(instance: Instance, isWhole: boolean, lacks: Parameters<typeof askFullState>[2]): ServerMessage {
    const message: ServerMessage = {}
    const { unasked } = instance
    instance.unasked = null
    if (!instance.hasBeenAnswered) {
      message.capabilities = OUR_CAPABILITIES
      instance.hasBeenAnswered = true
    }
    if (isWhole) {
      instance.hasAskedFullState = false
    } else if (
      unasked?.reportFullState === true ||
      askFullState(this.#parts, instance, lacks) ||
      this.#effective.takeOwed(instance)
    ) {
      message.reportFullState = true
      instance.hasAskedFullState = true
    }
    const isListDue = this.#components.ask(instance, lacks.isRetransmission)
    if (isListDue || (unasked?.reportAvailableComponents === true && instance.componentWait !== null))
      message.reportAvailableComponents = true
    return message
  }
}

/** Until an instance describes itself, it is taken for what its workload is. */
function liveIn(instance: Instance, home: Workload): void {
  instance.workload = home
  recallOffer(instance)
  instance.type = home.type
  instance.isExcluded = !home.acceptsRemoteConfig
}

/**
 * Did the agent restart on a connection that stayed open? It then describes itself and counts from the beginning
 * again. A poller has one connection for all its polls, and a gateway's socket stays open for the other agents on it; a
 * restart on a new socket shows by the socket. An agent that died after its first message begins with the same
 * number again; over HTTP that cannot be told from a message sent twice.
 */
function isNewStart(
  instance: Instance,
  connection: AgentConnection,
  report: AgentReport,
  { isCaughtUp = false }: AboutReport,
): boolean {
  const { sequenceNum } = instance
  if (report.attributes === null || sequenceNum === null || isCaughtUp) return false
  if (connection.transport === 'http') return report.sequenceNum < sequenceNum
  return instance.connection === connection && report.sequenceNum <= sequenceNum
}

/**
 * Whether an agent that counts as connected elsewhere goes on here with what it says first on a new socket: its number is
 * the next one, or a later one where a front answers beats of which nothing is known here. Its former socket may seem
 * open for a while; a goodbye on a socket that it had before is an old one.
 */
function hasMovedTo(
  { uid, connection: former, rival, sequenceNum }: Instance,
  connection: AgentConnection,
  report: AgentReport,
): boolean {
  if (former === null || rival === connection || sequenceNum === null) return false
  const ahead = report.sequenceNum - sequenceNum
  return ahead === 1 || (ahead > 1 && former.absorbs?.(uid) === true)
}

/**
 * The same of a goodbye that came without what the agent had said before it on its new socket, beyond the limit of reports
 * that may wait for an answer.
 */
const goesOnAt = (
  { connection: former, rival, sequenceNum }: Instance,
  place: string | null,
  report: AgentReport,
): boolean =>
  former !== null &&
  place !== null &&
  rival?.place !== place &&
  sequenceNum !== null &&
  report.sequenceNum > sequenceNum

/** Whether this is the connection that the agent has, or had when muster lost the link to its front. */
const isWhereItWas = (instance: Instance, connection: AgentConnection): boolean =>
  instance.connection === connection ||
  (instance.connection === null && instance.cutOff !== null && instance.cutOff.place === connection.place)

const capabilitiesOf = (instance: Instance, report: AgentReport): number =>
  report.hasCapabilities ? report.capabilities : instance.capabilities

const plain = (message: ServerMessage): Taken => ({ message, heard: null })
