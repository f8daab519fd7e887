import type { Clock } from '../clock.ts'
import { EffectiveConfigs, type EffectiveForm } from '../fleet/intake/effective-configs.ts'
import { OUR_CAPABILITIES } from '../fleet/intake/new-instance.ts'
import { AGENT_LIMITS } from '../fleet/state/agent-limits.ts'
import type { FleetDeps } from '../fleet/state/deps.ts'
import type { Timers } from '../fleet/state/timers.ts'
import type { AboutReport, AgentConnection, FleetPort } from '../opamp/fleet-port.ts'
import type { AgentReport, ServerMessage } from '../opamp/report.ts'
import { tellAgent } from '../opamp/tell-agent.ts'
import {
  type Batch,
  type FrontEntry,
  fromLinkMessage,
  type LinkMessage,
  type OwnerEntry,
  REPORT_BYTES_MAX,
  xorOf,
} from './frames.ts'
import { KeptReport, splitReport, withoutConfig } from './kept-report.ts'
import type { OfferTexts } from './offer-texts.ts'
import type { ReportedTexts } from './reported-texts.ts'

/**
 * The most reports that may wait for an answer of the owner. An agent that speaks beyond it is marked, and all that it
 * has said by then is reported when there is room.
 */
export const UNCONFIRMED_MAX = 500
const POLLS_MAX = 10_000
const POLL_MS = 1_000
/** An offer that is older when its text is there is not sent; the owner is told `not-sent`. */
const OFFER_MS = 2_000
const SEEN_MS = 5_000
/**
 * Effective configs are read and stored anew this often (half a day), because stored texts that nobody reports are
 * deleted after a day.
 */
const FORMS_MS = 43_200_000

/** The sending side of a link to the owner; the answers come to `FrontAgents.take`. */
export interface LinkOut {
  send(entry: FrontEntry): void
}

/** One agent on one connection of this process. */
interface Bound {
  readonly uid: string
  readonly connection: AgentConnection
  uidOnWire: Uint8Array
  sequenceNum: number
  /** No message of the agent was missed since the last report to the owner. */
  isCaughtUp: boolean
  /** The owner was told of this agent over the present link. */
  isTold: boolean
  /** Whether its bare beats are answered here (`grant`). */
  isGranted: boolean
  readonly report: KeptReport
  /** What it said last that it is; null before it did. */
  attributes: ReadonlyMap<string, string> | null
  // Its effective config, as `EffectiveConfigs` keeps it.
  rawEffectiveHash: string
  reportedConfigHash: string
  runsPipelines: boolean
  runsProfiles: boolean
  /** The newest offer that waits for the text of its config; null where none does. */
  offered: object | null
}

/** What the agents of a front are made of. */
export interface FrontAgentsParts {
  clock: Clock
  timers: Timers
  texts: OfferTexts
  reported: ReportedTexts
  normalise: FleetDeps['normalise']
  /** The most polls that may wait for an answer. */
  pollsMax?: number
}

/**
 * What a front has counted, for the metrics and the page. `waiting`: agents to be reported; `unconfirmed`: reports
 * without an answer yet; `absorbed`: beats answered here; `forwarded`: messages for the owner; `replayed`: agents
 * reported anew to an owner.
 */
export interface FrontCounts {
  agents: number
  waiting: number
  unconfirmed: number
  absorbed: number
  forwarded: number
  replayed: number
  offersNotSent: number
}

/**
 * The agents of this process, whose owner may be another process. Each message is answered here and passed on without
 * its effective config. What each agent has said so far is kept, so that the next owner learns it without asking the
 * agent.
 */
export class FrontAgents implements FleetPort {
  readonly #parts: FrontAgentsParts
  readonly #effective: EffectiveConfigs<Bound>
  /** By the connection's id, and by uid. */
  readonly #connections = new Map<number, { connection: AgentConnection; agents: Map<string, Bound> }>()
  /** Agents of which the owner is to be told all that they have said. */
  readonly #dirty = new Set<Bound>()
  readonly #beats = new Set<Bound>()
  readonly #unconfirmed = new Map<number, Bound | null>()
  readonly #polls = new Map<number, { uid: string; settle(message: ServerMessage | null): void }>()
  /** The uids of polls that were answered without the owner, by their numbers: its answer comes too late. */
  readonly #latePolls = new Map<number, string>()
  /** Agents that poll and were asked for their full state while no owner answered. */
  readonly #askedPollers = new Set<string>()
  readonly #pollsMax: number
  #link: LinkOut | null = null
  #lastN = 0
  #agentCount = 0
  /**
   * This monotonic clock less that of the owner, as the quickest batch of this link shows it; includes the time that
   * the batch was under way.
   */
  #skewMs = Number.POSITIVE_INFINITY
  /** The owner is to be sent the list of agents in the next turn of the event loop. */
  #isBoundDue = false
  #isStopped = false
  readonly #counts = { absorbed: 0, forwarded: 0, replayed: 0, offersNotSent: 0 }

  constructor(parts: FrontAgentsParts) {
    this.#parts = parts
    this.#pollsMax = parts.pollsMax ?? POLLS_MAX
    this.#effective = new EffectiveConfigs<Bound>({
      deps: parts,
      writer: parts.reported,
      tell: ({ instance }) => this.#formRead(instance),
    })
    this.#keepTime()
    this.#keepFormsYoung()
  }

  get counts(): FrontCounts {
    return {
      ...this.#counts,
      agents: this.#agentCount,
      waiting: this.#dirty.size,
      unconfirmed: this.#unconfirmed.size,
    }
  }

  /** Whether nothing that agents said still waits to be told to the owner, or for its answer. */
  get hasToldAll(): boolean {
    return this.#dirty.size === 0 && this.#unconfirmed.size === 0
  }

  /** There is a link to an owner: it is told of every agent. */
  linked(link: LinkOut): void {
    this.#link = link
    this.#skewMs = Number.POSITIVE_INFINITY
    this.#unconfirmed.clear()
    this.#latePolls.clear()
    for (const bound of this.#all()) {
      Object.assign(bound, { isTold: false, isGranted: false, offered: null })
      this.#dirty.add(bound)
    }
    this.#counts.replayed += this.#dirty.size
    this.#pump()
  }

  /** The link is gone. Agents whose beats are answered here stay so until there is another link. */
  unlinked(link: LinkOut): void {
    if (this.#link !== link) return
    this.#link = null
    this.#unconfirmed.clear()
    for (const bound of this.#all()) bound.offered = null
  }

  receive(connection: AgentConnection, report: AgentReport, about: AboutReport) {
    if (connection.transport === 'http')
      return { message: {}, pendingOffer: this.#poll(connection, report, about) }
    const { bound, isNew } = this.#bind(connection, report)
    if (bound === null) return { message: NO_ROOM, pendingOffer: null }
    const isNext = report.sequenceNum === bound.sequenceNum + 1
    const isAgain = report.sequenceNum === bound.sequenceNum
    bound.sequenceNum = report.sequenceNum
    if (bound.isGranted && isNext && isBareBeat(report)) {
      this.#counts.absorbed++
      this.#beats.add(bound)
      return { message: {}, pendingOffer: null }
    }
    // The same number again with a full description: a new process behind a gateway, on the same socket.
    const isStart = isAgain && report.attributes !== null
    if (!isNew && (isStart || (!isNext && !isAgain))) bound.isCaughtUp = false
    const fields = splitReport(about.message!)
    bound.report.take(fields)
    if (report.attributes !== null) bound.attributes = report.attributes
    bound.uidOnWire = report.uidOnWire.length === 16 ? bound.uidOnWire : report.uidOnWire
    const passedOn = withoutConfig(fields, REPORT_BYTES_MAX)
    // A disconnect is reported even beyond the limit, because the agent is forgotten here right afterwards.
    if (report.isDisconnect && this.#link !== null) this.#report(bound, passedOn)
    else this.#forward(bound, passedOn)
    if (report.effectiveConfig !== null) this.#effective.take(bound, report.effectiveConfig)
    // It has disconnected or asks for another uid: there is nothing to tell the next owner.
    if (report.isDisconnect || report.requestsInstanceUid) this.#forget(bound)
    return { message: isNew ? { capabilities: OUR_CAPABILITIES } : {}, pendingOffer: null }
  }

  connectionClosed(connection: AgentConnection, { isOurDoing = false } = {}): void {
    const held = this.#connections.get(connection.id)
    if (held === undefined) return
    for (const bound of held.agents.values()) this.#forget(bound)
    this.#connections.delete(connection.id)
    if (isOurDoing) this.#sayBoundSoon()
    else this.#link?.send(['closed', connection.id])
  }

  /** Take a batch from the owner. */
  take({ entries, atMs }: Batch<OwnerEntry>): void {
    const delayMs = this.#delayOf(atMs)
    for (const entry of entries) this.#takeEntry(entry, delayMs)
    this.#pump()
  }

  stop(): void {
    this.#isStopped = true
    for (const { settle } of this.#polls.values()) settle(null)
  }

  /** How many milliseconds longer this batch was under way than the quickest one of this link. */
  #delayOf(atMs: number): number {
    const differenceMs = this.#parts.clock.monotonicMs() - atMs
    this.#skewMs = Math.min(this.#skewMs, differenceMs)
    return differenceMs - this.#skewMs
  }

  #takeEntry(entry: OwnerEntry, delayMs: number): void {
    switch (entry[0]) {
      case 'answer':
        this.#answered(entry[1], entry[2])
        break
      case 'tell': {
        const bound = this.#connections.get(entry[1])?.agents.get(entry[2])
        if (bound !== undefined) this.#tell(bound, entry[3], delayMs)
        else if (entry[3].configHash !== undefined)
          this.#link?.send(['not-sent', entry[1], entry[2], entry[3].configHash])
        break
      }
      case 'drop':
        this.#connections.get(entry[1])?.connection.drop()
        break
      case 'grant':
      case 'withdraw': {
        const bound = this.#connections.get(entry[1])?.agents.get(entry[2])
        if (bound === undefined) break
        if (entry[0] === 'grant') bound.isGranted = true
        // Its socket here may stay open, for other agents on it: no later owner is to be told of it as one of here.
        else this.#forget(bound)
        break
      }
      case 'list':
        this.#sayAll()
        break
      default:
        entry satisfies never
    }
  }

  #answered(n: number, message: LinkMessage | null): void {
    const { configHash } = message ?? {}
    const poll = this.#polls.get(n)
    if (poll !== undefined) {
      void this.#resolve(message).then((said) => {
        const isLate = this.#polls.get(n) !== poll
        if (configHash !== undefined && (isLate || said.remoteConfig === undefined))
          this.#pollNotSent(poll.uid, configHash)
        poll.settle(said)
      })
      return
    }
    const lateUid = this.#latePolls.get(n)
    this.#latePolls.delete(n)
    if (lateUid !== undefined && configHash !== undefined) this.#pollNotSent(lateUid, configHash)
    const bound = this.#unconfirmed.get(n)
    this.#unconfirmed.delete(n)
    if (bound == null || message === null) return
    this.#tell(bound, message, 0)
  }

  #pollNotSent(uid: string, configHash: string): void {
    this.#counts.offersNotSent++
    this.#link?.send(['not-sent', 0, uid, configHash])
  }

  /** The poll is answered without the owner. So many of those that were last are remembered. */
  #noteLate(n: number, uid: string): void {
    this.#latePolls.set(n, uid)
    if (this.#latePolls.size > this.#pollsMax) this.#latePolls.delete(this.#latePolls.keys().next().value!)
  }

  /**
   * The message in the form for the agent, with the text of its config; without the config where that text cannot be
   * read.
   */
  async #resolve(message: LinkMessage | null): Promise<ServerMessage> {
    if (message === null) return {}
    const { configHash } = message
    return fromLinkMessage(
      message,
      configHash === undefined ? null : await this.#parts.texts.find(configHash),
    )
  }

  #tell(bound: Bound, message: LinkMessage, delayMs: number): void {
    const { configHash } = message
    if (configHash === undefined) {
      this.#sendTo(bound, fromLinkMessage(message, null))
      if (message.newInstanceUid !== undefined || message.errorResponse !== undefined) this.#forget(bound)
      return
    }
    const offer = {}
    bound.offered = offer
    const send = (body: Uint8Array | null) => {
      // A newer offer has replaced this one, the agent is gone, or there is no link to the owner that decided it.
      if (bound.offered !== offer || this.#link === null) return
      bound.offered = null
      const waitedMs = delayMs + this.#parts.clock.monotonicMs() - startedMs
      const isSent =
        body !== null && waitedMs <= OFFER_MS && this.#sendTo(bound, fromLinkMessage(message, body))
      if (isSent) return
      this.#counts.offersNotSent++
      this.#link.send(['not-sent', bound.connection.id, bound.uid, configHash])
    }
    const startedMs = this.#parts.clock.monotonicMs()
    const body = this.#parts.texts.at(configHash)
    if (body !== null) send(body)
    else void this.#parts.texts.find(configHash).then(send)
  }

  #sendTo(bound: Bound, message: ServerMessage): boolean {
    const isSent = tellAgent(bound.connection, bound.uidOnWire, message) !== 'dropped'
    // The owner says it again when the agent next speaks, so the owner has to see the next message.
    if (!isSent) bound.isGranted = false
    return isSent
  }

  #bind(connection: AgentConnection, report: AgentReport): { bound: Bound | null; isNew: boolean } {
    const held = this.#connections.get(connection.id) ?? { connection, agents: new Map<string, Bound>() }
    const known = held.agents.get(report.uid)
    if (known !== undefined) return { bound: known, isNew: false }
    if (held.agents.size >= AGENT_LIMITS.perConnection || this.#agentCount >= AGENT_LIMITS.inAll)
      return { bound: null, isNew: true }
    const bound: Bound = {
      uid: report.uid,
      connection,
      uidOnWire: report.uidOnWire.slice(),
      report: new KeptReport(),
      sequenceNum: report.sequenceNum,
      isCaughtUp: false,
      isTold: false,
      isGranted: false,
      offered: null,
      attributes: null,
      rawEffectiveHash: '',
      reportedConfigHash: '',
      runsPipelines: false,
      runsProfiles: false,
    }
    held.agents.set(report.uid, bound)
    this.#connections.set(connection.id, held)
    this.#agentCount++
    return { bound, isNew: true }
  }

  #forget(bound: Bound): void {
    const held = this.#connections.get(bound.connection.id)
    if (held?.agents.get(bound.uid) !== bound) return
    held.agents.delete(bound.uid)
    this.#agentCount--
    this.#dirty.delete(bound)
    this.#beats.delete(bound)
    bound.offered = null
  }

  /**
   * Pass a message on to the owner; where there is no link or too many reports wait, mark the agent to be reported as a
   * whole.
   */
  #forward(bound: Bound, message: Uint8Array): void {
    this.#counts.forwarded++
    const isFull = this.#link === null || this.#unconfirmed.size >= UNCONFIRMED_MAX
    if (isFull || this.#dirty.has(bound)) this.#dirty.add(bound)
    else this.#report(bound, message)
  }

  #report(bound: Bound, message: Uint8Array): void {
    const n = ++this.#lastN
    this.#unconfirmed.set(n, bound)
    const { isCaughtUp } = bound
    bound.isCaughtUp = true
    bound.isTold = true
    const text = Buffer.from(message).toString('base64')
    this.#link!.send(['report', n, bound.connection.id, isCaughtUp, text, formOf(bound)])
  }

  /** Report the marked agents, as far as there is room. */
  #pump(): void {
    for (const bound of this.#dirty) {
      if (this.#link === null || this.#unconfirmed.size >= UNCONFIRMED_MAX) return
      this.#dirty.delete(bound)
      this.#report(bound, bound.report.message(bound.sequenceNum))
    }
  }

  #formRead(bound: Bound): void {
    const form = formOf(bound)
    if (form === null || !bound.isTold || this.#dirty.has(bound)) return
    const conn = bound.connection.transport === 'http' ? 0 : bound.connection.id
    this.#link?.send(['form', conn, bound.uid, form])
  }

  #poll(
    connection: AgentConnection,
    report: AgentReport,
    { message, poll }: AboutReport,
  ): Promise<ServerMessage | null> {
    if (this.#polls.size >= this.#pollsMax) return Promise.resolve(null)
    const n = ++this.#lastN
    const fields = splitReport(message!)
    const answer = new Promise<ServerMessage | null>((resolve) => {
      const cancel = this.#parts.timers.after(POLL_MS, () => {
        this.#noteLate(n, report.uid)
        settle(this.#askOnce(report.uid))
      })
      const settle = (said: ServerMessage | null) => {
        cancel()
        this.#polls.delete(n)
        resolve(said)
      }
      this.#polls.set(n, {
        uid: report.uid,
        settle: (said) => {
          this.#askedPollers.delete(report.uid)
          settle(said)
        },
      })
    })
    const text = Buffer.from(withoutConfig(fields, REPORT_BYTES_MAX)).toString('base64')
    this.#link?.send(['poll', n, poll!.source, poll!.digest, text])
    if (report.effectiveConfig !== null) this.#readOfPoll(connection, report)
    return answer
  }

  /** Read the effective config of an agent that polls; the owner is told when it was read, and nothing is kept here. */
  #readOfPoll(connection: AgentConnection, report: AgentReport): void {
    const reader: Bound = {
      uid: report.uid,
      connection,
      uidOnWire: report.uidOnWire,
      report: new KeptReport(),
      sequenceNum: 0,
      isCaughtUp: false,
      isTold: true,
      isGranted: false,
      offered: null,
      attributes: report.attributes,
      rawEffectiveHash: '',
      reportedConfigHash: '',
      runsPipelines: false,
      runsProfiles: false,
    }
    this.#effective.take(reader, report.effectiveConfig!)
  }

  /** The owner did not answer this poll in time: ask the agent for its full state, once. */
  #askOnce(uid: string): ServerMessage {
    if (this.#askedPollers.has(uid)) return {}
    if (this.#askedPollers.size >= this.#pollsMax) this.#askedPollers.clear()
    this.#askedPollers.add(uid)
    return { reportFullState: true }
  }

  /** Connections were ended by this process: by the list the owner ends them too, and counts no agent as lost. */
  #sayBoundSoon(): void {
    if (this.#isBoundDue) return
    this.#isBoundDue = true
    this.#parts.timers.after(0, () => {
      this.#isBoundDue = false
      this.#sayBound()
    })
  }

  #sayBound(): void {
    const agents = [...this.#all()].map(({ connection, uid }) => `${connection.id}:${uid}`)
    this.#link?.send(['bound', agents.join(',')])
  }

  /** The owner does not have the same agents as this front: send it the list, and report every agent anew. */
  #sayAll(): void {
    this.#sayBound()
    for (const bound of this.#all()) this.#dirty.add(bound)
  }

  *#all(): Iterable<Bound> {
    for (const { agents } of this.#connections.values()) yield* agents.values()
  }

  #keepTime(): void {
    this.#parts.timers.after(SEEN_MS, () => {
      if (this.#isStopped) return
      this.#sayCounts()
      this.#saySeen()
      this.#effective.tick()
      this.#keepTime()
    })
  }

  #keepFormsYoung(): void {
    this.#parts.timers.after(FORMS_MS, () => {
      if (this.#isStopped) return
      this.#effective.forgetAll()
      this.#keepFormsYoung()
    })
  }

  #sayCounts(): void {
    const { waiting, unconfirmed, absorbed, forwarded, replayed } = this.counts
    this.#link?.send(['counts', waiting + unconfirmed, absorbed, forwarded, replayed])
  }

  #saySeen(): void {
    // The owner would miss the agents of which it was not told yet.
    if (this.#link === null || !this.hasToldAll) return
    const uids = [...this.#all()].map(({ uid }) => uid)
    const beats = [...this.#beats].map(({ uid }) => uid).join('')
    this.#beats.clear()
    this.#link.send(['seen', uids.length, xorOf(uids), beats])
  }
}

const NO_ROOM: ServerMessage = {
  errorResponse: { type: 'unavailable', message: 'Cannot take another agent here', retryAfterMs: 30_000 },
}

const isBareBeat = (report: AgentReport): boolean =>
  report.attributes === null &&
  report.health === null &&
  report.effectiveConfig === null &&
  report.remoteConfigStatus === null &&
  report.components === null &&
  !report.isDisconnect &&
  !report.requestsInstanceUid

function formOf(bound: Bound): EffectiveForm | null {
  const { rawEffectiveHash: rawHash, reportedConfigHash: hash, runsPipelines, runsProfiles } = bound
  return rawHash === '' || hash === '' ? null : { rawHash, hash, runsPipelines, runsProfiles }
}
