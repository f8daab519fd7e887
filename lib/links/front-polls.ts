import type { Clock } from '../clock.ts'
import type { EffectiveConfigs, RunsConfig } from '../fleet/intake/effective-configs.ts'
import type { Timers } from '../fleet/state/timers.ts'
import type { AboutReport, AgentConnection } from '../opamp/fleet-port.ts'
import { type AgentReport, type Asked, askedBy, type ServerMessage } from '../opamp/report.ts'
import { UNSURE_MS } from './batch-writer.ts'
import { type FrontConfig, noteForm, unknownConfig } from './bound-agent.ts'
import { fromLinkMessage, type LinkMessage, type LinkOut, REPORT_BYTES_MAX } from './frames.ts'
import type { FrontEndings } from './front-endings.ts'
import type { FrontOffers } from './front-offers.ts'
import { configWordOf, goodbyeOf, splitReport, withoutConfig } from './kept-report.ts'

const POLLS_MAX = 10_000
/** The most bytes of the polls that may wait for an answer: a link that has too much to write is cut. */
const POLLS_BYTES_MAX = 16_777_216
/** A poll that the owner has not answered by then is answered without it. */
export const POLL_MS = 1_000

/** An effective config that came with a poll. */
export interface PolledConfig extends FrontConfig {
  readonly uid: string
  readonly uidOnWire: Uint8Array
  /** Null once it is not remembered any more that this agent has brought it. */
  connection: AgentConnection | null
  readonly attributes: RunsConfig['attributes']
  /** When the owner was told what was read of it, by the monotonic clock; null before. */
  toldMs: number | null
}

/** One poll that waits for its answer. */
interface OpenPoll {
  uid: string
  /** The link on which the owner was asked; null for none. */
  link: LinkOut | null
  settle(message: ServerMessage | null): void
}

/** What the polls of a front are made of. */
export interface FrontPollsParts {
  clock: Pick<Clock, 'monotonicMs'>
  timers: Timers
  effective: Pick<EffectiveConfigs<PolledConfig>, 'take' | 'takeOwed' | 'forgetOwed'>
  endings: Pick<FrontEndings, 'noteGoodbye' | 'noteLastWord' | 'isBack'>
  offers: Pick<FrontOffers, 'note' | 'isDue' | 'find'>
  /** The link to the owner; null while there is none. */
  link(): LinkOut | null
  /** The number of what is asked of the owner next. */
  nextN(): number
  /** An offer of the owner did not reach its agent. */
  onNotSent(): void
  /** A poll was passed on to the owner. */
  onForwarded(): void
  /** The most polls that may wait for an answer, and the most agents of which something is remembered. */
  pollsMax?: number | undefined
}

/** The polls that came to this process: each is passed on to the owner, and answered without it where it is silent. */
export class FrontPolls {
  readonly #parts: FrontPollsParts
  readonly #most: number
  readonly #open = new Map<number, OpenPoll>()
  #openBytes = 0
  /**
   * The uids of polls that were answered without the owner, by their numbers: its answer comes too late. While so many
   * wait for that, no more are passed on: of none is it forgotten that an offer in its answer has not reached the agent.
   */
  readonly #late = new Map<number, string>()
  /** Agents that were asked for their full state while no owner answered. */
  readonly #asked = new Set<string>()
  /** What the owner asks of agents and said too late for a poll: they are asked with the answer to their next one. */
  readonly #unasked = new Map<string, Asked>()
  /** The config that each agent's last poll with one has brought, by uid; the one that came first is dropped first. */
  readonly #configs = new Map<string, PolledConfig>()

  constructor(parts: FrontPollsParts) {
    this.#parts = parts
    this.#most = parts.pollsMax ?? POLLS_MAX
  }

  /** There is a link to an owner: what another one still answers is none of its business. */
  linked(): void {
    this.#late.clear()
  }

  /** The link is gone, and with it what it was told last: agents are asked again for the configs that were in that. */
  unlinked(): void {
    const unsureMs = this.#parts.clock.monotonicMs() - UNSURE_MS
    for (const { uid, toldMs } of this.#configs.values())
      if (toldMs !== null && toldMs >= unsureMs) this.#askLater(uid, { reportFullState: true })
  }

  /** Pass a poll on; resolves to its answer, null where too many wait. */
  take(
    connection: AgentConnection,
    report: AgentReport,
    { message, poll }: AboutReport,
  ): Promise<ServerMessage | null> {
    const { endings, nextN } = this.#parts
    const { uid, isDisconnect } = report
    const isFull = this.#open.size >= this.#most || this.#openBytes >= POLLS_BYTES_MAX
    if (!isDisconnect) endings.isBack(uid)
    if (isFull && !isDisconnect) return Promise.resolve(null)
    const n = nextN()
    const link = this.#late.size < this.#most || isDisconnect ? this.#parts.link() : null
    const fields = splitReport(message!)
    // A goodbye is passed on even beyond the limit, as it does not come again, and so only what counts of it.
    const passedOn = isDisconnect ? goodbyeOf(fields) : withoutConfig(fields, REPORT_BYTES_MAX)
    if (link !== null) {
      this.#parts.onForwarded()
      link.send(['poll', n, poll!.source, poll!.digest, Buffer.from(passedOn).toString('base64')])
    }
    this.#keepLastSaid(n, report, fields, passedOn)
    if (isFull) return Promise.resolve(null)
    const asks: ServerMessage = { ...this.#unasked.get(uid) }
    this.#unasked.delete(uid)
    if (this.#takeOwed(uid, report)) asks.reportFullState = true
    const answer = new Promise<ServerMessage | null>((resolve) => {
      const cancel = this.#parts.timers.after(POLL_MS, () => {
        if (link !== null && link === this.#parts.link()) this.#late.set(n, uid)
        settle(this.#askOnce(uid))
      })
      const settle = (said: ServerMessage | null) => {
        cancel()
        if (this.#open.delete(n)) this.#openBytes -= passedOn.length
        resolve(said === null ? null : { ...said, ...asks })
      }
      this.#openBytes += passedOn.length
      this.#open.set(n, {
        uid,
        link,
        settle: (said) => {
          this.#asked.delete(uid)
          settle(said)
        },
      })
    })
    this.#read(connection, report)
    return answer
  }

  /** Keep what counts of a poll until the owner has it: a goodbye, and what the agent says of its config. */
  #keepLastSaid(
    n: number,
    { uid, isDisconnect }: AgentReport,
    fields: ReadonlyMap<number, Uint8Array>,
    goodbye: Uint8Array,
  ): void {
    const { clock, endings } = this.#parts
    const message = isDisconnect ? goodbye : configWordOf(fields)
    if (message === null) return
    const said = { conn: 0, uid, message, saidMs: clock.monotonicMs() }
    if (isDisconnect) endings.noteGoodbye(n, said)
    else endings.noteLastWord(n, said)
  }

  /** Take the owner's answer to what has this number; false where that is no poll. */
  answered(n: number, message: LinkMessage | null, delayMs: number): boolean {
    const open = this.#open.get(n)
    if (open !== undefined) {
      void this.#answer(n, open, message, delayMs)
      return true
    }
    const uid = this.#late.get(n)
    if (uid === undefined) return false
    this.#late.delete(n)
    if (message === null) return true
    this.#askLater(uid, message)
    if (message.offer !== undefined) this.#notSent(n, uid, message.offer.hash)
    return true
  }

  /** An effective config that came with a poll was read. */
  formRead(config: PolledConfig): void {
    const form = noteForm(config)
    const link = this.#parts.link()
    if (link === null) {
      this.#askLater(config.uid, { reportFullState: true })
      return
    }
    config.toldMs = this.#parts.clock.monotonicMs()
    link.send(['form', 0, config.uid, form])
  }

  stop(): void {
    for (const { settle } of this.#open.values()) settle(null)
  }

  /** Let the agent have the answer, with the text of its config. Without the config where that text cannot be read. */
  async #answer(n: number, open: OpenPoll, message: LinkMessage | null, delayMs: number): Promise<void> {
    const { offer } = message ?? {}
    if (offer === undefined) return open.settle(message === null ? {} : fromLinkMessage(message, null))
    const { clock, offers } = this.#parts
    const startedMs = clock.monotonicMs()
    // Also those that are told of it on sockets, and the other way round.
    offers.note(offer)
    const text = await offers.find(offer)
    // An owner that follows has decided by itself what this agent is to run.
    const isOfThisOwner = open.link === this.#parts.link()
    const isOpen = this.#open.get(n) === open
    const isDue = offers.isDue(offer, delayMs + clock.monotonicMs() - startedMs)
    const body = isOfThisOwner && isOpen && isDue ? text : null
    if (isOfThisOwner && body === null) this.#notSent(n, open.uid, offer.hash)
    if (!isOpen) this.#askLater(open.uid, message!)
    open.settle(fromLinkMessage(message!, body))
  }

  /** Ask an agent with the answer to its next poll; of so many that is remembered. */
  #askLater(uid: string, message: LinkMessage): void {
    const asks = { ...this.#unasked.get(uid), ...askedBy(message) }
    if (Object.keys(asks).length === 0) return
    this.#unasked.delete(uid)
    this.#unasked.set(uid, asks)
    if (this.#unasked.size > this.#most) this.#unasked.delete(this.#unasked.keys().next().value!)
  }

  #notSent(n: number, uid: string, hash: string): void {
    this.#parts.onNotSent()
    this.#parts.link()?.send(['not-sent', 0, uid, hash, n])
  }

  /** The owner did not answer this poll in time: ask the agent for its full state, once. */
  #askOnce(uid: string): ServerMessage {
    if (this.#asked.has(uid)) return {}
    if (this.#asked.size >= this.#most) this.#asked.clear()
    this.#asked.add(uid)
    return { reportFullState: true }
  }

  /** Read the effective config that came with a poll; one that came before and is not read yet counts no more. */
  #read(connection: AgentConnection, { uid, uidOnWire, attributes, effectiveConfig }: AgentReport): void {
    if (effectiveConfig === null) return
    const before = this.#configs.get(uid)
    if (before !== undefined) {
      this.#forget(before)
      before.rawEffectiveHash = ''
    }
    const config: PolledConfig = { uid, uidOnWire, connection, attributes, toldMs: null, ...unknownConfig() }
    this.#configs.set(uid, config)
    if (this.#configs.size > this.#most) this.#giveWay(this.#configs.values().next().value!)
    this.#parts.effective.take(config, effectiveConfig)
  }

  /** There is no room to remember this one. An agent that is to be asked for it again is asked at its next poll. */
  #giveWay(config: PolledConfig): void {
    if (this.#parts.effective.forgetOwed(config)) this.#askLater(config.uid, { reportFullState: true })
    this.#forget(config)
  }

  /** Without a connection, nobody waits to be asked for it again. */
  #forget(config: PolledConfig): void {
    config.connection = null
    this.#configs.delete(config.uid)
  }

  /** Whether this agent is to be asked for its effective config, because there was no room to read it when it came. */
  #takeOwed(uid: string, { effectiveConfig }: AgentReport): boolean {
    const config = this.#configs.get(uid)
    return config !== undefined && effectiveConfig === null && this.#parts.effective.takeOwed(config)
  }
}
