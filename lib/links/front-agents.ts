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

/** Reports that may wait for the owner's word; whoever comes past this is told of as a whole, when it is its turn. */
export const UNCONFIRMED_MAX = 500
const POLLS_MAX = 10_000
const POLL_MS = 1_000
/** An offer that has been on its way for longer is asked about again. */
const OFFER_MS = 2_000
const SEEN_MS = 5_000
/** Stored texts that nobody runs go after a day: within half of one each is read, and so stored, anew. */
const FORMS_MS = 43_200_000

/** Where a front says what it has to say; the owner's answers come to `FrontAgents.take`. */
export interface LinkOut {
  send(entry: FrontEntry): void
}

/** One agent on one connection of this process. */
interface Bound {
  readonly uid: string
  readonly connection: AgentConnection
  uidOnWire: Uint8Array
  sequenceNum: number
  /** No message is missing since the last that the owner was told. */
  isCaughtUp: boolean
  /** The owner has been told of it, in this link. */
  isTold: boolean
  isGranted: boolean
  readonly report: KeptReport
  // What it runs in effect, as `EffectiveConfigs` keeps it.
  rawEffectiveHash: string
  reportedConfigHash: string
  runsPipelines: boolean
  runsProfiles: boolean
  /** The newest offer that is on its way to it. */
  offered: object | null
}

export interface FrontAgentsParts {
  clock: Clock
  timers: Timers
  texts: OfferTexts
  reported: ReportedTexts
  normalise: FleetDeps['normalise']
  /** Polls that may wait. */
  pollsMax?: number
}

/** What a front has counted, for the metrics and the page. */
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
 * The agents of this process, for an owner that may be another one. Each message is answered here and passed on without
 * its config; what each agent has said by now is kept, so that an owner that follows learns it without asking.
 */
export class FrontAgents implements FleetPort {
  readonly #parts: FrontAgentsParts
  readonly #effective: EffectiveConfigs<Bound>
  /** By connection and uid. */
  readonly #connections = new Map<number, { connection: AgentConnection; agents: Map<string, Bound> }>()
  /** Agents of which the owner is to be told as a whole. */
  readonly #dirty = new Set<Bound>()
  readonly #beats = new Set<Bound>()
  readonly #unconfirmed = new Map<number, Bound | null>()
  readonly #polls = new Map<number, { uid: string; settle(message: ServerMessage | null): void }>()
  /** Pollers that were asked for everything while nobody answered. */
  readonly #askedPollers = new Set<string>()
  readonly #pollsMax: number
  #link: LinkOut | null = null
  #lastN = 0
  #agentCount = 0
  /** The owner's clock less ours, at the quickest message. */
  #skewMs = Number.POSITIVE_INFINITY
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

  /** Whether the beats of all agents are answered here, and nothing waits. */
  get isSettled(): boolean {
    return this.#dirty.size === 0 && this.#unconfirmed.size === 0
  }

  /** There is a way to an owner: it is told of every agent. */
  linked(link: LinkOut): void {
    this.#link = link
    this.#skewMs = Number.POSITIVE_INFINITY
    this.#unconfirmed.clear()
    for (const bound of this.#all()) {
      Object.assign(bound, { isTold: false, isGranted: false, offered: null })
      this.#dirty.add(bound)
    }
    this.#counts.replayed += this.#dirty.size
    this.#pump()
  }

  /** The way is gone. Beats that may be answered here are, until there is another. */
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
    // The first number again, with all that it is: a new process on a gateway's socket.
    const isStart = isAgain && report.attributes !== null
    if (!isNew && (isStart || (!isNext && !isAgain))) bound.isCaughtUp = false
    const fields = splitReport(about.message!)
    bound.report.take(fields)
    bound.uidOnWire = report.uidOnWire.length === 16 ? bound.uidOnWire : report.uidOnWire
    const passedOn = withoutConfig(fields, REPORT_BYTES_MAX)
    // A goodbye waits for nothing: afterwards there is nobody to tell of.
    if (report.isDisconnect && this.#link !== null) this.#report(bound, passedOn)
    else this.#forward(bound, passedOn)
    if (report.effectiveConfig !== null) this.#effective.take(bound, report.effectiveConfig)
    // It has said goodbye, or wants to be somebody else: there is nothing to tell a next owner.
    if (report.isDisconnect || report.requestsInstanceUid) this.#forget(bound)
    return { message: isNew ? { capabilities: OUR_CAPABILITIES } : {}, pendingOffer: null }
  }

  connectionClosed(connection: AgentConnection): void {
    const held = this.#connections.get(connection.id)
    if (held === undefined) return
    for (const bound of held.agents.values()) this.#forget(bound)
    this.#connections.delete(connection.id)
    this.#link?.send(['closed', connection.id])
  }

  /** Take what the owner says. */
  take({ entries, atMs }: Batch<OwnerEntry>): void {
    const delayMs = this.#delayOf(atMs)
    for (const entry of entries) this.#takeEntry(entry, delayMs)
    this.#pump()
  }

  stop(): void {
    this.#isStopped = true
    for (const { settle } of this.#polls.values()) settle(null)
  }

  /** How much longer than the quickest message of this link this one was on its way. */
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
        if (bound !== undefined) bound.isGranted = entry[0] === 'grant'
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
    const poll = this.#polls.get(n)
    if (poll !== undefined) {
      void this.#resolve(message).then((said) => {
        const { configHash } = message ?? {}
        if (configHash !== undefined && said.remoteConfig === undefined)
          this.#link?.send(['not-sent', 0, poll.uid, configHash])
        poll.settle(said)
      })
      return
    }
    const bound = this.#unconfirmed.get(n)
    this.#unconfirmed.delete(n)
    if (bound == null || message === null) return
    this.#tell(bound, message, 0)
  }

  /** The message as an agent gets it, with the text of the config that it names. */
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
      // A newer one is on its way, or it is gone, or another owner decides.
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
    // What it was not told is said again when it next speaks, so that is for the owner to hear.
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
      ...{ uid: report.uid, connection, uidOnWire: report.uidOnWire.slice(), report: new KeptReport() },
      sequenceNum: report.sequenceNum,
      ...{ isCaughtUp: false, isTold: false, isGranted: false, offered: null },
      ...{ rawEffectiveHash: '', reportedConfigHash: '', runsPipelines: false, runsProfiles: false },
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

  /** Tell the owner what was just said, or, where too much waits for its word, all that was said by then. */
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

  /** Tell of those that wait, as far as there is room. */
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
      const cancel = this.#parts.timers.after(POLL_MS, () => settle(this.#askOnce(report.uid)))
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

  /** What a poller runs is told when it was read; nothing else of it is kept here. */
  #readOfPoll(connection: AgentConnection, report: AgentReport): void {
    const reader: Bound = {
      ...{ uid: report.uid, connection, uidOnWire: report.uidOnWire, report: new KeptReport() },
      ...{ sequenceNum: 0, isCaughtUp: false, isTold: true, isGranted: false, offered: null },
      ...{ rawEffectiveHash: '', reportedConfigHash: '', runsPipelines: false, runsProfiles: false },
    }
    this.#effective.take(reader, report.effectiveConfig!)
  }

  /** Nobody answered this poll: what it said is asked for again, once. */
  #askOnce(uid: string): ServerMessage {
    if (this.#askedPollers.has(uid)) return {}
    if (this.#askedPollers.size >= this.#pollsMax) this.#askedPollers.clear()
    this.#askedPollers.add(uid)
    return { reportFullState: true }
  }

  /** The owner's picture of who is here is another one: it gets ours, and hears of everybody anew. */
  #sayAll(): void {
    const agents = [...this.#all()].map(({ connection, uid }) => `${connection.id}:${uid}`)
    this.#link?.send(['bound', agents.join(',')])
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
    // Who is not told of yet would be missed by the owner.
    if (this.#link === null || !this.isSettled) return
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
