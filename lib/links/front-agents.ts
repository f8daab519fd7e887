import type { Clock } from '../clock.ts'
import { EffectiveConfigs } from '../fleet/intake/effective-configs.ts'
import { OUR_CAPABILITIES } from '../fleet/intake/new-instance.ts'
import { AGENT_LIMITS } from '../fleet/state/agent-limits.ts'
import type { FleetDeps } from '../fleet/state/deps.ts'
import { StandStill } from '../fleet/state/stand-still.ts'
import type { Timers } from '../fleet/state/timers.ts'
import type { AboutReport, AgentConnection, FleetPort } from '../opamp/fleet-port.ts'
import { type AgentReport, askedBy, type ServerMessage } from '../opamp/report.ts'
import { type Bound, newBound, noteForm } from './bound-agent.ts'
import {
  type Batch,
  type LinkMessage,
  type LinkOut,
  type OwnerEntry,
  REPORT_BYTES_MAX,
  xorOf,
} from './frames.ts'
import { FrontEndings, type LastSaid } from './front-endings.ts'
import { FrontOffers } from './front-offers.ts'
import { FrontPolls, type PolledConfig } from './front-polls.ts'
import { goodbyeOf, splitReport, withoutConfig } from './kept-report.ts'
import { KEPT_BYTES_MAX, type KeptOf, KeptReports } from './kept-reports.ts'
import { REPLAYED_SINCE, STORED_SINCE } from './link-versions.ts'
import type { OfferTexts } from './offer-texts.ts'
import type { ReportedTexts } from './reported-texts.ts'

/**
 * The most reports that may wait for an answer of the owner. An agent that speaks beyond it is marked, and all that it
 * has said by then is reported when there is room.
 */
export const UNCONFIRMED_MAX = 500
/** The most bytes of such reports: a link that has more to write than its room for it is cut. */
export const UNCONFIRMED_BYTES_MAX = 8_388_608
const SEEN_MS = 5_000
/** How often it is looked whether this process stood still. */
const TICK_MS = 1_000
/**
 * Effective configs are read and stored anew this often (half a day), because stored texts that nobody reports are
 * deleted after a day.
 */
const FORMS_MS = 43_200_000

/** No report has this number: what an agent said is to be reported. */
const NOT_REPORTED = 0

/** What the agents of a front are made of. */
export interface FrontAgentsParts {
  clock: Clock
  timers: Timers
  texts: OfferTexts
  reported: ReportedTexts
  normalise: FleetDeps['normalise']
  /** The most polls that may wait for an answer. */
  pollsMax?: number
  /** The most bytes that are kept of what all agents have said. */
  keptBytesMax?: number
}

/**
 * What a front has counted, for the metrics and the page. `waiting`: agents to be reported; `unconfirmed`: reports
 * without an answer yet; `absorbed`: beats answered here; `forwarded`: messages for the owner; `replayed`: agents
 * reported anew to another owner; `refused`: messages of agents that found no room here; `keptBytes`: what is kept of all that
 * agents have said.
 */
export interface FrontCounts {
  agents: number
  waiting: number
  unconfirmed: number
  absorbed: number
  forwarded: number
  replayed: number
  offersNotSent: number
  refused: number
  keptBytes: number
}

/**
 * The agents of this process, whose owner may be another process. Each message is answered here and passed on without
 * its effective config. What each agent has said so far is kept, so that the next owner learns it without asking the
 * agent.
 */
export class FrontAgents implements FleetPort {
  readonly #parts: FrontAgentsParts
  readonly #effective: EffectiveConfigs<Bound | PolledConfig>
  readonly #polls: FrontPolls
  readonly #offers: FrontOffers
  readonly #endings: FrontEndings
  readonly #standStill: StandStill
  /** By the connection's id, and by uid. */
  readonly #connections = new Map<number, Held>()
  readonly #kept: KeptReports
  /** Agents of which the owner is to be told all that they have said. */
  readonly #dirty = new Set<Bound>()
  readonly #beats = new Set<Bound>()
  /** Reports by their numbers, with what each said of whether the agent is caught up. */
  readonly #unconfirmed = new Map<number, { bound: Bound; wasCaughtUp: boolean; bytes: number }>()
  #unconfirmedBytes = 0
  /** By the number of the report that said it: the agents whose config status may not be stored. */
  readonly #unstored = new Map<number, Bound>()
  #link: LinkOut | null = null
  /** The epoch of the owner of the last link; null before the first. */
  #epoch: number | null = null
  #lastN = 0
  #agentCount = 0
  /** The owner is to be sent the list of agents in the next turn of the event loop. */
  #isBoundDue = false
  #isStopped = false
  readonly #counts = { absorbed: 0, forwarded: 0, replayed: 0, offersNotSent: 0, refused: 0 }

  constructor(parts: FrontAgentsParts) {
    this.#parts = parts
    this.#effective = new EffectiveConfigs<Bound | PolledConfig>({
      deps: parts,
      writer: parts.reported,
      tell: ({ instance }) => {
        if ('report' in instance) this.#formRead(instance)
        else this.#polls.formRead(instance)
      },
    })
    const toOwner = {
      link: () => this.#link,
      onNotSent: () => this.#counts.offersNotSent++,
    }
    const onForwarded = () => this.#counts.forwarded++
    const { clock, timers, texts, pollsMax, keptBytesMax = KEPT_BYTES_MAX } = parts
    this.#kept = new KeptReports(keptBytesMax, () => this.#connections.values())
    this.#endings = new FrontEndings(clock)
    this.#standStill = new StandStill(parts, TICK_MS)
    this.#offers = new FrontOffers({ ...toOwner, clock, texts })
    this.#polls = new FrontPolls({
      ...toOwner,
      onForwarded,
      clock,
      timers,
      effective: this.#effective,
      endings: this.#endings,
      offers: this.#offers,
      nextN: () => ++this.#lastN,
      pollsMax,
    })
    this.#keepTime()
    this.#watchForStandStill()
    this.#keepFormsYoung()
  }

  get counts(): FrontCounts {
    return {
      ...this.#counts,
      agents: this.#agentCount,
      waiting: this.#dirty.size,
      unconfirmed: this.#unconfirmed.size,
      keptBytes: this.#kept.bytes,
    }
  }

  /** See `FrontOffers.unread`. */
  get unread(): FrontOffers['unread'] {
    return this.#offers.unread
  }

  /** Whether nothing that agents said still waits to be told to the owner, or for its answer. */
  get hasToldAll(): boolean {
    return this.#dirty.size === 0 && this.#unconfirmed.size === 0
  }

  /** There is a link to an owner: it is told of every agent. */
  linked(link: LinkOut): void {
    this.#link = link
    this.#offers.linked()
    this.#polls.linked()
    this.#giveUpUnconfirmed()
    // When each spoke last is said with all that it has said; a beat from before would count as of now.
    this.#beats.clear()
    // First who has left: whoever is back since is told of afterwards.
    this.#endings.sayAll(link)
    for (const bound of this.#all()) {
      Object.assign(bound, { isTold: false, isGranted: false, offered: null })
      if (bound.unstoredAs !== null) this.#noteUnstored(bound, NOT_REPORTED)
      this.#dirty.add(bound)
    }
    if (this.#epoch !== null && this.#epoch !== link.epoch) this.#counts.replayed += this.#dirty.size
    this.#epoch = link.epoch
    this.#pump()
  }

  /** The link is gone. Agents whose beats are answered here stay so until there is another link. */
  unlinked(link: LinkOut): void {
    if (this.#link !== link) return
    this.#link = null
    this.#offers.unlinked()
    this.#polls.unlinked()
    this.#giveUpUnconfirmed()
    for (const bound of this.#all()) bound.offered = null
  }

  /** See `LinkDelay.quickestMs`, of the present link. */
  get quickestMs(): number | null {
    return this.#offers.delay.quickestMs
  }

  receive(connection: AgentConnection, report: AgentReport, about: AboutReport) {
    if (connection.transport === 'http')
      return { message: {}, pendingOffer: this.#polls.take(connection, report, about) }
    const { held, bound, isNew } = this.#bind(connection, report)
    if (bound === null) {
      this.#counts.refused++
      return { message: NO_ROOM, pendingOffer: null }
    }
    const before = bound.sequenceNum
    const isNext = report.sequenceNum === before + 1
    const isAgain = report.sequenceNum === before
    bound.sequenceNum = report.sequenceNum
    bound.saidMs = this.#parts.clock.monotonicMs()
    const asks = bound.unasked
    bound.unasked = {}
    if (bound.isGranted && isNext && isBareBeat(report, bound)) {
      this.#counts.absorbed++
      // Not before the owner has what it had said: it would be taken for older than the beat.
      if (!this.#isConfigUnheard(bound)) this.#beats.add(bound)
      return { message: asks, pendingOffer: null }
    }
    // A full description under a number that was there: a new process behind a gateway, on the same socket.
    const isStart = !isNew && report.attributes !== null && report.sequenceNum <= before
    const isGap = !isNew && !isStart && !isNext && !isAgain
    if (isStart || isGap) bound.isCaughtUp = false
    const fields = splitReport(about.message!)
    this.#kept.take(held, bound, report, fields, { isStart, isGap })
    if (report.hasCapabilities) bound.capabilities = report.capabilities
    if (report.remoteConfigStatus !== null && !report.isDisconnect) this.#noteUnstored(bound, NOT_REPORTED)
    bound.uidOnWire = report.uidOnWire.length === 16 ? bound.uidOnWire : report.uidOnWire
    if (report.isDisconnect) this.#sayGoodbye(bound, fields)
    else this.#forward(bound, withoutConfig(fields, REPORT_BYTES_MAX))
    // Its form depends on the attributes that the agent has said: where these were given up, it comes with them.
    if (report.effectiveConfig !== null && bound.isGivenUp) asks.reportFullState = true
    else if (report.effectiveConfig !== null) this.#effective.take(bound, report.effectiveConfig)
    // It has disconnected or asks for another uid: there is nothing to tell the next owner.
    if (report.isDisconnect || report.requestsInstanceUid) this.#forget(bound)
    return { message: isNew ? { capabilities: OUR_CAPABILITIES } : asks, pendingOffer: null }
  }

  answerNotSent(connection: AgentConnection, uid: string, answer: ServerMessage): void {
    const bound = this.#connections.get(connection.id)?.agents.get(uid)
    if (bound !== undefined) Object.assign(bound.unasked, askedBy(answer))
  }

  connectionClosed(connection: AgentConnection, { isOurDoing = false } = {}): void {
    const held = this.#connections.get(connection.id)
    if (held === undefined) return
    const uids = [...held.agents.keys()]
    for (const bound of held.agents.values()) {
      if (bound.unstoredAs !== null) this.#keepLastWord(bound, bound.unstoredAs)
      this.#forget(bound)
    }
    this.#connections.delete(connection.id)
    if (isOurDoing || this.#standStill.isRecent) this.#sayBoundSoon()
    else this.#sayEnded(connection.id, uids)
  }

  /** Take a batch from the owner. */
  take(batch: Batch<OwnerEntry>): void {
    const delayMs = this.#offers.delay.of(batch)
    for (const entry of batch.entries) this.#takeEntry(entry, delayMs)
    this.#pump()
  }

  stop(): void {
    this.#isStopped = true
    this.#polls.stop()
  }

  #takeEntry(entry: OwnerEntry, delayMs: number): void {
    switch (entry[0]) {
      case 'answer':
        this.#answered(entry[1], entry[2], delayMs)
        break
      case 'stored':
        this.#stored(entry[1])
        break
      case 'tell': {
        const [, conn, uid, message, n] = entry
        const bound = this.#connections.get(conn)?.agents.get(uid)
        if (bound !== undefined) this.#tell(bound, message, delayMs, n)
        else if (message.offer !== undefined) this.#offers.notSent(conn, uid, message.offer, n)
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
        else this.#withdrawn(bound)
        break
      }
      case 'list':
        this.#sayAll()
        break
      case 'forget':
        this.#effective.forget(entry[1].split(','), this.#all())
        break
      default:
        entry satisfies never
    }
  }

  #answered(n: number, message: LinkMessage | null, delayMs: number): void {
    if (this.#link !== null && this.#link.version < STORED_SINCE) this.#stored(n)
    if (this.#polls.answered(n, message, delayMs)) return
    const reported = this.#unconfirmed.get(n)
    if (reported === undefined) return
    this.#unconfirmed.delete(n)
    this.#unconfirmedBytes -= reported.bytes
    const { bound } = reported
    if (bound.reportedAs === n && !this.#dirty.has(bound)) bound.isUnheard = false
    if (message !== null) this.#tell(bound, message, delayMs, n)
  }

  /** What came of what has this number is stored. */
  #stored(n: number): void {
    this.#endings.confirmed(n)
    const bound = this.#unstored.get(n)
    if (bound !== undefined) this.#noteUnstored(bound, null)
  }

  /** Keep that what an agent said of its config last was reported under this number; null: it is stored. */
  #noteUnstored(bound: Bound, n: number | null): void {
    if (bound.unstoredAs !== null) this.#unstored.delete(bound.unstoredAs)
    bound.unstoredAs = n
    if (n !== null && n !== NOT_REPORTED) this.#unstored.set(n, bound)
  }

  /** Whether the owner has not answered yet what this agent said of its config last. */
  #isConfigUnheard({ unstoredAs }: Bound): boolean {
    return unstoredAs !== null && (unstoredAs === NOT_REPORTED || this.#unconfirmed.has(unstoredAs))
  }

  /** The owner says that this agent speaks elsewhere. It has not heard yet what the agent has said here since. */
  #withdrawn(bound: Bound): void {
    if (bound.isUnheard) bound.isGranted = false
    // Its socket here may stay open, for other agents on it: no later owner is to be told of it as one of here.
    else this.#forget(bound)
  }

  #tell(bound: Bound, message: LinkMessage, delayMs: number, n: number): void {
    this.#offers.tell(bound, message, { delayMs, n })
    if (message.newInstanceUid !== undefined || message.errorResponse !== undefined) this.#forget(bound)
  }

  #bind(
    connection: AgentConnection,
    report: AgentReport,
  ): { held: Held; bound: Bound | null; isNew: boolean } {
    const held: Held = this.#connections.get(connection.id) ?? { connection, agents: new Map(), keptBytes: 0 }
    const known = held.agents.get(report.uid)
    if (known !== undefined) return { held, bound: known, isNew: false }
    if (held.agents.size >= AGENT_LIMITS.perConnection || this.#agentCount >= AGENT_LIMITS.inAll)
      return { held, bound: null, isNew: true }
    const bound = newBound(connection, report, this.#parts.clock.monotonicMs())
    this.#endings.isBack(report.uid)
    held.agents.set(report.uid, bound)
    this.#connections.set(connection.id, held)
    this.#agentCount++
    return { held, bound, isNew: true }
  }

  #forget(bound: Bound): void {
    const held = this.#connections.get(bound.connection.id)
    if (held?.agents.get(bound.uid) !== bound) return
    held.agents.delete(bound.uid)
    this.#kept.forget(held, bound)
    this.#agentCount--
    this.#dirty.delete(bound)
    this.#beats.delete(bound)
    this.#noteUnstored(bound, null)
    this.#effective.left(bound)
    this.#offers.drop(bound)
  }

  /**
   * Pass a message on to the owner; where there is no link or too many reports wait, mark the agent to be reported as a
   * whole.
   */
  #forward(bound: Bound, message: Uint8Array): void {
    this.#counts.forwarded++
    bound.isUnheard = true
    // When it beat before says nothing of when it said this.
    this.#beats.delete(bound)
    if (!this.#hasRoom || this.#dirty.has(bound)) this.#dirty.add(bound)
    else this.#report(bound, message)
  }

  /** `agoMs`: how long ago the last of it was said, where it is not said just now. */
  #report(bound: Bound, message: Uint8Array, agoMs: number | null = null): void {
    const n = ++this.#lastN
    const { isCaughtUp } = bound
    this.#unconfirmed.set(n, { bound, wasCaughtUp: isCaughtUp, bytes: message.length })
    this.#unconfirmedBytes += message.length
    bound.reportedAs = n
    if (bound.unstoredAs === NOT_REPORTED) this.#noteUnstored(bound, n)
    bound.isCaughtUp = true
    bound.isTold = true
    const text = Buffer.from(message).toString('base64')
    const { connection, form } = bound
    if (agoMs === null || this.#link!.version < REPLAYED_SINCE)
      this.#link!.send(['report', n, connection.id, isCaughtUp, text, form])
    else this.#link!.send(['replay', n, connection.id, isCaughtUp, text, form, agoMs])
  }

  /**
   * An agent says goodbye: said even beyond the limit, because the agent is forgotten here right afterwards, and so only
   * what counts of it. Beyond the limit it is kept with the endings alone; there it is with the config status that may not
   * be stored.
   */
  #sayGoodbye(bound: Bound, fields: ReadonlyMap<number, Uint8Array>): void {
    this.#counts.forwarded++
    const { unstoredAs } = bound
    const isReported = this.#hasRoom && !this.#dirty.has(bound)
    if (isReported) this.#report(bound, goodbyeOf(fields))
    else this.#lastN++
    const n = this.#lastN
    const kept = goodbyeOf(fields, unstoredAs === null ? null : bound.report.configStatus)
    this.#endings.noteGoodbye(n, lastSaidOf(bound, kept))
    if (!isReported && this.#link !== null) this.#endings.say(n, this.#link)
  }

  /**
   * An agent leaves, and what it said last of its config may not be stored. The owner confirms it by the report that said
   * it; what was not reported over this link is said by itself.
   */
  #keepLastWord(bound: Bound, reportedAs: number): void {
    const message = bound.report.configWord(bound.sequenceNum)
    if (message === null) return
    const isReported = reportedAs !== NOT_REPORTED
    const n = isReported ? reportedAs : ++this.#lastN
    this.#endings.noteLastWord(n, lastSaidOf(bound, message))
    if (!isReported && this.#link !== null) this.#endings.say(n, this.#link)
  }

  #sayEnded(conn: number, uids: readonly string[]): void {
    if (uids.length === 0) {
      this.#link?.send(['closed', conn])
      return
    }
    const n = ++this.#lastN
    this.#endings.noteEnd(n, conn, uids)
    this.#link?.send(['ended', n, conn, uids.join(',')])
  }

  /** Whether there is a link, and another report may wait for its answer. */
  get #hasRoom(): boolean {
    return (
      this.#link !== null &&
      this.#unconfirmed.size < UNCONFIRMED_MAX &&
      this.#unconfirmedBytes < UNCONFIRMED_BYTES_MAX
    )
  }

  /** Nobody answers these reports any more: what they said of missing messages is to be said again. */
  #giveUpUnconfirmed(): void {
    for (const { bound, wasCaughtUp } of this.#unconfirmed.values()) bound.isCaughtUp &&= wasCaughtUp
    this.#unconfirmed.clear()
    this.#unconfirmedBytes = 0
  }

  /** Report the marked agents, as far as there is room. */
  #pump(): void {
    for (const bound of this.#dirty) {
      if (!this.#hasRoom) return
      this.#dirty.delete(bound)
      if (bound.report.isLacking) bound.unasked.reportFullState = true
      const agoMs = this.#parts.clock.monotonicMs() - bound.saidMs
      this.#report(bound, bound.report.message(bound.sequenceNum), agoMs)
    }
  }

  #formRead(bound: Bound): void {
    const form = noteForm(bound)
    if (!bound.isTold || this.#dirty.has(bound)) return
    this.#link?.send(['form', bound.connection.id, bound.uid, form])
  }

  /**
   * Connections were ended by this process, or as it stood still: by the list the owner ends them too, and counts no
   * agent as lost.
   */
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
      this.#offers.lookAgain()
      this.#keepTime()
    })
  }

  #watchForStandStill(): void {
    this.#standStill.tick()
    this.#parts.timers.after(TICK_MS, () => {
      if (!this.#isStopped) this.#watchForStandStill()
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
    if (this.#link === null) return
    // The owner would miss the agents of which it was not told yet. What it was told, it has taken by then.
    const uids = [...this.#all()].flatMap(({ uid, isTold }) => (isTold ? [uid] : []))
    const beats = [...this.#beats].map(({ uid }) => uid).join('')
    this.#beats.clear()
    this.#link.send(['seen', uids.length, xorOf(uids), beats])
  }
}

/** A connection with its agents, by uid. */
interface Held extends KeptOf {
  readonly connection: AgentConnection
  readonly agents: Map<string, Bound>
}

const NO_ROOM: ServerMessage = {
  errorResponse: { type: 'unavailable', message: 'Cannot take another agent here', retryAfterMs: 30_000 },
}

const lastSaidOf = ({ connection, uid, saidMs }: Bound, message: Uint8Array): LastSaid => ({
  conn: connection.id,
  uid,
  message,
  saidMs,
})

/** Whether this message says nothing but that its agent is there. */
const isBareBeat = (report: AgentReport, { capabilities }: Bound): boolean =>
  (!report.hasCapabilities || report.capabilities === capabilities) &&
  report.attributes === null &&
  report.health === null &&
  report.effectiveConfig === null &&
  report.remoteConfigStatus === null &&
  report.components === null &&
  !report.isDisconnect &&
  !report.requestsInstanceUid
