import type { Clock } from '../clock.ts'
import { canReport } from '../fleet/decide/abilities.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { EffectiveForm } from '../fleet/intake/effective-configs.ts'
import { LateSayings } from '../fleet/intake/late-sayings.ts'
import type { LateGoodbye } from '../fleet/intake/receive.ts'
import type { Instance } from '../fleet/state/model.ts'
import type { Timers } from '../fleet/state/timers.ts'
import type { Log } from '../log.ts'
import { decodeBody } from '../opamp/codec.ts'
import type { OpampExchange } from '../opamp/exchange.ts'
import type { AboutReport, AgentConnection, ConfigReader } from '../opamp/fleet-port.ts'
import { instanceUidKey } from '../opamp/instance-uid.ts'
import type { AgentReport, ServerMessage } from '../opamp/report.ts'
import { BatchWriter, SILENT_MS, UNSURE_MS } from './batch-writer.ts'
import {
  type Batch,
  CELL,
  type FrontEntry,
  type OwnerEntry,
  readFrontBatch,
  toLinkMessage,
  xorOf,
} from './frames.ts'
import { POLL_MS } from './front-polls.ts'
import { LinkDelay } from './link-delay.ts'
import { FORGETS_SINCE, LINK_VERSIONS, MEASURED_SINCE, STORED_SINCE } from './link-versions.ts'

/** The socket of one link, as the owner uses it. */
export interface LinkSocket {
  /** Send a batch; false when the front reads too slowly. */
  send(text: string): boolean
  drop(): void
}

/** What the links of an owner are made of. */
export interface OwnerLinksParts {
  fleet: Fleet
  exchange: Pick<OpampExchange, 'answerPoll'>
  epoch: number
  /** Whether this process may act as the owner now, see `Membership.mayAct`. */
  mayAct: () => boolean
  clock: Clock
  timers: Timers
  log: Log
}

/** One link as the page shows it. */
export interface LinkFacts {
  memberId: string
  agents: number
  since: Date
  /** Null until the front has sent them. */
  counts: FrontSaid | null
}

/** What a front has counted, as in its `counts` entry. */
export interface FrontSaid {
  waiting: number
  absorbed: number
  forwarded: number
  replayed: number
}

/** How often a front may be asked for the list of its agents. */
const LIST_MS = 60_000
/** The hashes of texts that are named in one entry. */
const HASHES_AT_ONCE = 1_000

/** What an agent said last, told late. */
type SaidLast = FrontEntry & { 0: 'goodbye' | 'last-word' }

/** A connection of agents to another process, a front, as the owner sees it. */
class LinkConnection implements AgentConnection {
  readonly id: number
  readonly transport = 'ws'
  /** The front's own number of this connection. */
  readonly conn: number
  readonly link: OwnerLink
  /** The uids of the agents whose bare beats the front answers (`grant`). */
  readonly granted = new Set<string>()
  /** The number of the newest `tell` with an offer to each agent, by uid. */
  readonly offered = new Map<string, number>()
  isClosed = false

  get acknowledges(): boolean {
    return this.link.isMeasured
  }

  absorbs(uid: string): boolean {
    return this.granted.has(uid)
  }

  get place(): string {
    return placeOf(this.link.memberId, this.conn)
  }

  constructor(id: number, conn: number, link: OwnerLink) {
    this.id = id
    this.conn = conn
    this.link = link
  }

  /** The front encodes the frames; see `tell`. */
  send(): 'dropped' {
    return 'dropped'
  }

  /** 'sent' says that the front has it. Of an offer that does not leave from there it says so (`not-sent`). */
  tell(uidOnWire: Uint8Array, message: ServerMessage): 'sent' | 'dropped' {
    const uid = instanceUidKey(uidOnWire)
    const said = toLinkMessage(message)
    if (this.isClosed || uid === null || said === null) return 'dropped'
    const n = this.link.nextTell()
    if (said.offer !== undefined) this.offered.set(uid, n)
    this.link.push(['tell', this.conn, uid, said, n])
    return 'sent'
  }

  /** The agent is not on this connection any more. */
  forget(uid: string): void {
    this.granted.delete(uid)
    this.offered.delete(uid)
  }

  drop(): void {
    this.link.push(['drop', this.conn])
  }
}

/** The links of all fronts, at the owner. */
export class OwnerLinks {
  readonly parts: OwnerLinksParts
  readonly #links = new Set<OwnerLink>()
  readonly lateSayings: LateSayings
  #lastId = 0

  constructor(parts: OwnerLinksParts) {
    this.parts = parts
    const { clock, timers, fleet } = parts
    this.lateSayings = new LateSayings({
      clock,
      timers,
      state: fleet.state,
      isStopped: () => fleet.isStopped,
    })
  }

  /** The texts of these effective configs are not stored any more: each front is told, as it keeps what it has read. */
  forgetTexts(hashes: readonly string[]): void {
    for (const link of this.#links) link.forgetTexts(hashes)
  }

  nextId(): number {
    return ++this.#lastId
  }

  /**
   * A member has opened a link. What still comes over one that it has replaced was said before this one began, and all
   * that counts of it is said again.
   */
  open(socket: LinkSocket, memberId: string, version = LINK_VERSIONS.newest): OwnerLink {
    for (const former of this.#links) if (former.memberId === memberId) former.end()
    const link = new OwnerLink(this, socket, memberId, version)
    this.#links.add(link)
    return link
  }

  forget(link: OwnerLink): void {
    this.#links.delete(link)
  }

  /** Cut every link, after this process stood still: what waits on them is out of date. */
  dropAll(): void {
    for (const link of this.#links) link.drop()
  }

  /** Whether this front has a link. */
  has(memberId: string): boolean {
    return [...this.#links].some((link) => link.memberId === memberId)
  }

  /** Whether another front than this one has a link. */
  hasOtherThan(memberId: string): boolean {
    return [...this.#links].some((link) => link.memberId !== memberId)
  }

  list(): LinkFacts[] {
    return [...this.#links].map((link) => link.facts)
  }
}

/** One link of a front, at the owner. */
export class OwnerLink implements ConfigReader {
  readonly #links: OwnerLinks
  readonly #socket: LinkSocket
  readonly memberId: string
  /** The front says of each offer whether it left, and how quick the batches from here seem there. */
  readonly isMeasured: boolean
  /** It understands `forget`. */
  readonly #forgets: boolean
  /** It keeps what agents said last until it is told that it is stored. */
  readonly #awaitsStored: boolean
  readonly #tellStored = (numbers: readonly number[]): void => {
    for (const n of numbers) this.push(['stored', n])
  }
  readonly #since: Date
  readonly #writer: BatchWriter<OwnerEntry>
  /** By the front's own number of the connection. */
  readonly #connections = new Map<number, LinkConnection>()
  /** The offers in answers to polls of the last UNSURE_MS: uid → config's hash, poll's number, when; oldest first. */
  readonly #polled = new Map<string, { hash: string; n: number; atMs: number }>()
  readonly #delay: LinkDelay
  #lastTell = 0
  #heardMs: number
  #listedMs = Number.NEGATIVE_INFINITY
  /** How the agents that the front has differed from those that are known of it, at its last word; null: not at all. */
  #difference: string | null = null
  #counts: FrontSaid | null = null
  #isClosed = false

  constructor(links: OwnerLinks, socket: LinkSocket, memberId: string, version: number) {
    const { clock, timers, epoch, mayAct } = links.parts
    this.#links = links
    this.#socket = socket
    this.memberId = memberId
    this.isMeasured = version >= MEASURED_SINCE
    this.#forgets = version >= FORGETS_SINCE
    this.#awaitsStored = version >= STORED_SINCE
    this.#since = clock.now()
    this.#heardMs = clock.monotonicMs()
    this.#delay = new LinkDelay(clock)
    this.#writer = new BatchWriter({
      clock,
      timers,
      epoch,
      // Another process may own by now. What it has from this one of a goodbye, say, would be told to no other owner.
      maySay: mayAct,
      quickestMs: this.isMeasured ? () => this.#delay.quickestMs : undefined,
      send: (text) => {
        if (!socket.send(text)) this.drop()
      },
    })
    this.#watch()
  }

  get facts(): LinkFacts {
    let agents = 0
    for (const { id } of this.#connections.values())
      agents += this.#links.parts.fleet.state.byConnection.get(id)?.size ?? 0
    return { memberId: this.memberId, agents, since: this.#since, counts: this.#counts }
  }

  get isThere(): boolean {
    return this.#links.has(this.memberId)
  }

  nextTell(): number {
    return ++this.#lastTell
  }

  push(entry: OwnerEntry): void {
    this.#writer.push(entry)
  }

  /** The texts of these effective configs are not stored any more. */
  forgetTexts(hashes: readonly string[]): void {
    if (!this.#forgets) return
    for (let at = 0; at < hashes.length; at += HASHES_AT_ONCE)
      this.push(['forget', hashes.slice(at, at + HASHES_AT_ONCE).join(',')])
  }

  drop(): void {
    if (!this.#isClosed) this.#socket.drop()
  }

  /** Cut it and take nothing more from it. */
  end(): void {
    this.drop()
    this.closed()
  }

  /**
   * Take a batch from the front. A front that sends anything else is cut off. Once the fleet has stopped nothing is taken
   * and nothing is answered: the front says to the next owner what this one has not answered.
   */
  take(text: string): void {
    if (this.#isClosed) return
    const { clock, epoch, fleet } = this.#links.parts
    this.#heardMs = clock.monotonicMs()
    if (fleet.isStopped) return
    const batch = this.#read(text)
    // Another one is meant for the owner of another epoch. The front reports everything again over a link to this one.
    if (batch?.epoch !== epoch) return
    const delayMs = this.#delay.of(batch)
    for (const entry of batch.entries)
      try {
        this.#takeEntry(entry, delayMs)
      } catch (error) {
        this.#entryFailed(entry, error)
      }
  }

  #read(text: string): Batch<FrontEntry> | null {
    try {
      const batch = readFrontBatch(text)
      if (batch.cell !== CELL) throw new Error('of another cell')
      return batch
    } catch (error) {
      const { log } = this.#links.parts
      log.error({ err: error, member: this.memberId }, 'a link said what nobody understands')
      this.drop()
      return null
    }
  }

  /**
   * What one entry broke on is nobody else's fault. It is answered where the front waits for that, which would say it
   * again on each link, and have each of them broken by it.
   */
  #entryFailed(entry: FrontEntry, error: unknown): void {
    const [kind, n] = entry
    this.#links.parts.log.error(
      { err: error, member: this.memberId, kind },
      'the fleet broke on what a link said',
    )
    if (kind === 'poll') this.push(['answer', n, null])
    if (kind === 'poll' || kind === 'ended' || kind === 'goodbye' || kind === 'last-word') this.#confirm(n)
  }

  /**
   * The link ended, for whatever reason. Its agents may still be connected to the front; this process only cannot reach
   * them.
   */
  closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#links.parts.fleet.writer.tellNoMore(this.#tellStored)
    this.#writer.close()
    this.#links.forget(this)
    const heardAgoMs = this.#links.parts.clock.monotonicMs() - this.#heardMs
    for (const connection of this.#connections.values()) this.#end(connection, true, heardAgoMs)
    this.#forgetPolled()
    for (const [uid, { hash }] of this.#polled) this.#pollNotSent(uid, hash)
    this.#polled.clear()
  }

  #end(connection: LinkConnection, isOurDoing: boolean, heardAgoMs = 0): void {
    connection.isClosed = true
    this.#connections.delete(connection.conn)
    this.#links.parts.fleet.connectionClosed(connection, { isOurDoing, heardAgoMs })
  }

  #watch(): void {
    const { clock, timers, log } = this.#links.parts
    timers.after(SILENT_MS, () => {
      if (this.#isClosed) return
      if (clock.monotonicMs() - this.#heardMs >= SILENT_MS) {
        log.warn({ member: this.memberId }, 'a front fell silent: its link was cut')
        this.drop()
      } else this.#watch()
    })
  }

  #takeEntry(entry: FrontEntry, delayMs: number): void {
    switch (entry[0]) {
      case 'report':
        this.#report(entry, { agoMs: delayMs })
        break
      case 'replay': {
        const leastAgoMs = Math.max(0, entry[6])
        this.#report(entry, { agoMs: delayMs + leastAgoMs, leastAgoMs })
        break
      }
      case 'poll':
        this.#poll(entry, delayMs).catch((error) => this.#entryFailed(entry, error))
        break
      case 'form':
        this.#form(entry[1], entry[2], entry[3], true)
        break
      case 'closed': {
        const connection = this.#connections.get(entry[1])
        if (connection !== undefined) this.#end(connection, false)
        break
      }
      case 'ended':
        this.#ended(entry)
        break
      case 'goodbye':
      case 'last-word':
        this.#said(entry, delayMs)
        break
      case 'sent': {
        const [, conn, uid, n] = entry
        const connection = this.#connections.get(conn)
        if (connection?.offered.get(uid) === n) this.#links.parts.fleet.offerSent(connection, uid)
        break
      }
      case 'not-sent':
        this.#notSent(entry)
        break
      case 'seen':
        this.#seen(entry[1], entry[2], entry[3])
        break
      case 'bound':
        this.#endAllBut(entry[1])
        break
      case 'counts': {
        const [, waiting, absorbed, forwarded, replayed] = entry
        this.#counts = { waiting, absorbed, forwarded, replayed }
        break
      }
      default:
        entry satisfies never
    }
  }

  /**
   * Tell the front that what has this number needs not be said to the next owner: once it is stored. A front whose link has
   * ended says it again on its next one.
   */
  #confirm(n: number): void {
    if (this.#isClosed) return
    if (this.#awaitsStored) this.#links.parts.fleet.writer.whenStored(n, this.#tellStored)
    else this.push(['answer', n, null])
  }

  /** Confirm what was answered already, where the front keeps it: a goodbye, or what an agent said of its config. */
  #confirmKept(n: number, { isDisconnect, remoteConfigStatus }: AgentReport): void {
    if (this.#awaitsStored && (isDisconnect || remoteConfigStatus !== null)) this.#confirm(n)
  }

  /** A connection ended; the front says so on each link until it is confirmed. */
  #ended([, n, conn, uids]: FrontEntry & { 0: 'ended' }): void {
    const connection = this.#connections.get(conn)
    if (connection !== undefined) this.#end(connection, false)
    const { fleet } = this.#links.parts
    for (const uid of uids.split(',')) fleet.hadEnded(uid, placeOf(this.memberId, conn))
    this.#confirm(n)
  }

  /** What an agent had said of its config, or that it had left; the front says so on each link until it is confirmed. */
  #said(entry: SaidLast, delayMs: number): void {
    const [, n, conn, agoMs, text] = entry
    const intake = decodeBody(Buffer.from(text, 'base64'))
    if (!intake.ok) {
      this.#confirm(n)
      return
    }
    const { report } = intake
    const { clock } = this.#links.parts
    const saidMs = clock.monotonicMs() - delayMs - Math.max(0, agoMs)
    const place = conn === 0 ? null : placeOf(this.memberId, conn)
    const take = (isBack: boolean) => {
      try {
        // Also where this link has ended since: its front may be gone for good, and nobody else can tell of it.
        if (!isBack) this.#take(entry, report, { place, agoMs: clock.monotonicMs() - saidMs })
        this.#confirm(n)
      } catch (error) {
        this.#entryFailed(entry, error)
      }
    }
    this.#links.lateSayings.take({ uid: report.uid, place, saidMs, take })
  }

  #take([kind, , , saidAgoMs]: SaidLast, report: AgentReport, said: Omit<LateGoodbye, 'leastAgoMs'>): void {
    const { fleet } = this.#links.parts
    if (kind === 'last-word') {
      fleet.hadSaidOfConfig(report, said.agoMs)
      return
    }
    const before = fleet.state.instances.get(report.uid)?.connection
    fleet.hadSaidGoodbye(report, { ...said, leastAgoMs: Math.max(0, saidAgoMs) })
    this.#withdraw(report.uid, before, null)
  }

  /** An offer has not reached its agent. Where another was made since, that one is on its way. */
  #notSent([, conn, uid, hash, n]: FrontEntry & { 0: 'not-sent' }): void {
    if (conn === 0) {
      if ((this.#polled.get(uid)?.n ?? n) === n) this.#pollNotSent(uid, hash)
      return
    }
    const connection = this.#connections.get(conn)
    if (connection?.offered.get(uid) !== n) return
    // A front whose agent had no room for the offer lets each message through, until it is told that it need not.
    connection.granted.delete(uid)
    this.#links.parts.fleet.offerNotSent(connection, uid, hash)
  }

  #report(
    [, n, conn, isCaughtUp, text, form]: FrontEntry & { 0: 'report' | 'replay' },
    said: Pick<AboutReport, 'agoMs' | 'leastAgoMs'>,
  ): void {
    const { fleet, log } = this.#links.parts
    const intake = decodeBody(Buffer.from(text, 'base64'))
    if (!intake.ok) {
      this.push(['answer', n, null])
      return
    }
    const { report } = intake
    const connection = this.#connectionOf(conn)
    if (report.isDisconnect) this.#links.lateSayings.leaves(report.uid)
    const before = fleet.state.instances.get(report.uid)?.connection
    try {
      const { message } = fleet.receive(connection, report, { isCaughtUp, ...said, reader: this })
      this.push(['answer', n, toLinkMessage(message)])
    } catch (error) {
      log.error({ uid: report.uid, err: error }, 'the fleet broke on a report')
      this.push(['answer', n, { errorResponse: { type: 'unknown', message: 'internal error' } }])
    }
    this.#confirmKept(n, report)
    this.#withdraw(report.uid, before, connection)
    if (form !== null) this.#form(conn, report.uid, form, false)
    if (report.isDisconnect) connection.forget(report.uid)
    else {
      this.#withdrawOvertaken(report.uid, connection)
      this.#grant(report.uid, connection)
    }
  }

  /**
   * Where the agent speaks, or has said goodbye, on this connection, null for a poll, a front that had it on another one is to forget it
   * there: were it told of as an agent of that front to the next owner, it would be in two places.
   */
  #withdraw(
    uid: string,
    before: AgentConnection | null | undefined,
    connection: LinkConnection | null,
  ): void {
    if (!(before instanceof LinkConnection) || before === connection) return
    if (this.#links.parts.fleet.state.instances.get(uid)?.connection === before) return
    before.forget(uid)
    before.link.push(['withdraw', before.conn, uid])
  }

  /** The same where the agent was not taken for one of here, because it had gone on, or left, by the time this came. */
  #withdrawOvertaken(uid: string, connection: LinkConnection): void {
    const instance = this.#links.parts.fleet.state.instances.get(uid)
    if (instance?.connection === connection) return
    connection.forget(uid)
    this.push(['withdraw', connection.conn, uid])
  }

  /**
   * Let the front answer the bare beats of an agent of which nothing is expected and to which nothing is to be said.
   */
  #grant(uid: string, connection: LinkConnection): void {
    if (connection.granted.has(uid)) return
    const { state } = this.#links.parts.fleet
    const instance = state.instances.get(uid)
    if (instance?.connection !== connection || !isUpToDate(instance) || state.outstanding.has(instance))
      return
    connection.granted.add(uid)
    this.push(['grant', connection.conn, uid])
  }

  async #poll([, n, source, digest, text]: FrontEntry & { 0: 'poll' }, delayMs: number): Promise<void> {
    const message = Buffer.from(text, 'base64')
    const intake = decodeBody(message)
    if (!intake.ok) return this.push(['answer', n, null])
    if (delayMs > POLL_MS && this.#isBehind(intake.report)) {
      this.push(['answer', n, null])
      this.#confirmKept(n, intake.report)
      return
    }
    const { exchange, fleet, clock } = this.#links.parts
    const { uid } = intake.report
    if (intake.report.isDisconnect) this.#links.lateSayings.leaves(uid)
    const before = fleet.state.instances.get(uid)?.connection
    const said = toLinkMessage(
      await exchange.answerPoll(intake.report, { source, digest, message, reader: this }),
    )
    if (fleet.isStopped) return
    this.push(['answer', n, said])
    this.#confirmKept(n, intake.report)
    this.#withdraw(uid, before, null)
    this.#forgetPolled()
    const known = fleet.state.instances.get(uid)
    const isReporting = known === undefined || canReport(known)
    // What the agent was offered before has arrived or was lost by now, as it polls again. One that reports its config says
    // which; of another one the front alone may say that the answer came too late, and its link may end with that word.
    if (said?.offer === undefined && !isReporting) return
    this.#polled.delete(uid)
    if (said?.offer === undefined) return
    const { hash } = said.offer
    if (this.#isClosed) this.#pollNotSent(uid, hash)
    else this.#polled.set(uid, { hash, n, atMs: clock.monotonicMs() })
  }

  /**
   * Whether this agent has said something later. The front has answered this poll by itself, and the agent may have
   * gone on over another front: it would be taken for one that starts anew.
   */
  #isBehind({ uid, sequenceNum }: AgentReport): boolean {
    const known = this.#links.parts.fleet.state.instances.get(uid)?.sequenceNum ?? null
    return known !== null && sequenceNum <= known
  }

  #forgetPolled(): void {
    const sinceMs = this.#links.parts.clock.monotonicMs() - UNSURE_MS
    for (const [uid, { atMs }] of this.#polled)
      if (atMs < sinceMs) this.#polled.delete(uid)
      else return
  }

  /** The front could not give this agent the offer with the answer to its poll, as far as is known. */
  #pollNotSent(uid: string, hash: string): void {
    const { fleet } = this.#links.parts
    const instance = fleet.state.instances.get(uid)
    // It polls elsewhere by now, or has said what it does with the config, so that it has it.
    if (instance?.connection?.transport !== 'http' || instance.offer?.hasStatus !== false) return
    fleet.offerNotSent(instance.connection, uid, hash)
  }

  /** Of an agent that polls, the front that was given a config last says what it was; another one comes late. */
  #form(conn: number, uid: string, form: EffectiveForm, isLast: boolean): void {
    const { fleet } = this.#links.parts
    const instance = fleet.state.instances.get(uid)
    const at = instance?.connection
    const isOurs =
      conn === 0
        ? at?.transport === 'http' && instance?.configReader?.memberId === this.memberId
        : at != null && at === this.#connections.get(conn)
    if (isOurs) fleet.effectiveConfigRead(uid, form, { isLast })
  }

  #seen(count: number, xor: string, beats: string): void {
    const { clock, fleet } = this.#links.parts
    const here = [...this.#instances()]
    const beating: Instance[] = []
    for (let at = 0; at + 32 <= beats.length; at += 32) {
      const instance = fleet.state.instances.get(beats.slice(at, at + 32))
      if (instance?.connection instanceof LinkConnection && instance.connection.link === this)
        beating.push(instance)
    }
    fleet.heardOf(beating)
    const ours = xorOf(here.map(({ uid }) => uid))
    const differs = here.length !== count || ours !== xor
    const difference = differs ? `${here.length - count}/${xorOf([ours, xor])}` : null
    const isDue = clock.monotonicMs() - this.#listedMs >= LIST_MS
    // Twice the same one: an agent that was refused, of which the front has not heard that yet, is another one each time.
    if (difference !== null && difference === this.#difference && isDue) {
      this.#listedMs = clock.monotonicMs()
      this.push(['list'])
    }
    this.#difference = difference
  }

  /** End the connections that the front does not have any more, and the agents that it has forgotten on the others. */
  #endAllBut(agents: string): void {
    const { fleet } = this.#links.parts
    const there = new Set(agents.split(','))
    const conns = new Set([...there].map((agent) => Number(agent.split(':')[0])))
    for (const connection of [...this.#connections.values()]) {
      if (!conns.has(connection.conn)) {
        this.#end(connection, true)
        continue
      }
      for (const { uid } of [...(fleet.state.byConnection.get(connection.id) ?? [])]) {
        if (there.has(`${connection.conn}:${uid}`)) continue
        connection.forget(uid)
        fleet.agentForgotten(connection, uid)
      }
    }
  }

  *#instances(): Iterable<Instance> {
    for (const { id } of this.#connections.values())
      yield* this.#links.parts.fleet.state.byConnection.get(id) ?? []
  }

  #connectionOf(conn: number): LinkConnection {
    const known = this.#connections.get(conn)
    if (known !== undefined) return known
    const connection = new LinkConnection(this.#links.nextId(), conn, this)
    this.#connections.set(conn, connection)
    return connection
  }
}

/** A connection of a front, by a name that it has over all links of that front. */
const placeOf = (memberId: string, conn: number): string => `${memberId}/${conn}`

/** Whether a bare beat of this agent would change nothing at the owner. */
function isUpToDate(instance: Instance): boolean {
  const { rival } = instance
  return (
    instance.isDescribed &&
    instance.workload !== null &&
    (instance.reported.isKnown || !canReport(instance)) &&
    instance.undescribedSinceMs === null &&
    instance.componentWait === null &&
    (rival === null || (rival instanceof LinkConnection && rival.isClosed))
  )
}
