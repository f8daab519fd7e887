import type { Clock } from '../clock.ts'
import { askedBy, type ServerMessage } from '../opamp/report.ts'
import { tellAgent } from '../opamp/tell-agent.ts'
import type { Bound } from './bound-agent.ts'
import { fromLinkMessage, type LinkMessage, type LinkOffer, type LinkOut } from './frames.ts'
import { LinkDelay } from './link-delay.ts'
import { MEASURED_SINCE } from './link-versions.ts'
import type { OfferTexts } from './offer-texts.ts'

/** An offer that is older when its text is there is not sent; the owner is told `not-sent`. */
const OFFER_MS = 2_000
/** The workloads whose generation is remembered; the one that was offered something longest ago is forgotten first. */
const WORKLOADS_MAX = 20_000

/** What the offers of a front are made of. */
export interface FrontOffersParts {
  clock: Clock
  texts: OfferTexts
  /** The link to the owner; null while there is none. */
  link(): LinkOut | null
  /** An offer of the owner did not reach its agent. */
  onNotSent(): void
}

/** An owner offers again each second what did not leave: in a longer gap its database may have been away as well. */
const UNREAD_GAP_MS = 10_000

/** Offers that came while the database gave no answer here, of which this is the last one's hash. */
interface Unread {
  hash: string
  sinceMs: number
  untilMs: number
  /** There was a gap since the first. Of an outage of all only its two ends are seen: after another gap it was none. */
  hasGap: boolean
  /** How often the database had answered by then. */
  answers: number
}

/** Tells agents on sockets what the owner has decided. An offer that is out of date by then is not sent. */
export class FrontOffers {
  readonly #parts: FrontOffersParts
  /**
   * The generation that came last in each workload, which is the newest: a link keeps the order. It may be a lower one,
   * as a workload that was deleted and is there again counts anew.
   */
  readonly #generations = new Map<string, number>()
  #delay: LinkDelay
  #unread: Unread | null = null
  #toldMs = Number.NEGATIVE_INFINITY

  constructor(parts: FrontOffersParts) {
    this.#parts = parts
    this.#delay = new LinkDelay(parts.clock)
  }

  /**
   * From when until when offers came whose text the database did not give, on the monotonic clock; null before the first,
   * and once it has answered again. The owner had its database all that time: it offers again once it is told that nothing
   * was sent, within `UNREAD_GAP_MS`; to one that polls, when it does.
   */
  get unread(): Pick<Readonly<Unread>, 'sinceMs' | 'untilMs'> | null {
    const { texts } = this.#parts
    return texts.isFailing && this.#unread?.answers === texts.answers ? this.#unread : null
  }

  /** Called every few seconds: what could not be read is asked for again, also where nothing is offered any more. */
  lookAgain(): void {
    if (this.unread !== null) void this.#parts.texts.find(this.#unread!.hash)
  }

  /** There is a new link: nothing is known of what its owner has decided. */
  linked(): void {
    this.#generations.clear()
  }

  /** The link is gone. */
  unlinked(): void {
    this.#delay = new LinkDelay(this.#parts.clock)
  }

  /** How late the batches of the present link come. */
  get delay(): LinkDelay {
    return this.#delay
  }

  /** Send an agent what the owner says, which came this much late and has this number. */
  tell(bound: Bound, message: LinkMessage, { delayMs, n }: { delayMs: number; n: number }): void {
    const { offer } = message
    if (offer === undefined) {
      this.#send(bound, fromLinkMessage(message, null))
      return
    }
    this.note(offer)
    const waiting = { offer, n }
    bound.offered = waiting
    const link = this.#parts.link()
    const startedMs = this.#parts.clock.monotonicMs()
    const send = (body: Uint8Array | null) => {
      // A newer offer has replaced this one, the agent is gone, or there is no link to the owner that decided it.
      if (bound.offered !== waiting || link === null || this.#parts.link() !== link) return
      bound.offered = null
      const isDue = this.isDue(offer, delayMs + this.#parts.clock.monotonicMs() - startedMs)
      if (body !== null && isDue && this.#send(bound, fromLinkMessage(message, body))) {
        if (link.version >= MEASURED_SINCE) link.send(['sent', bound.connection.id, bound.uid, n])
        return
      }
      this.notSent(bound.connection.id, bound.uid, offer, n)
    }
    const body = this.#parts.texts.at(offer.hash)
    if (body !== null) send(body)
    else void this.find(offer).then(send)
  }

  /** The text of what has just been offered; null when the database does not have it or does not answer. */
  async find({ hash }: LinkOffer): Promise<Uint8Array | null> {
    const { clock, texts } = this.#parts
    const startedMs = clock.monotonicMs()
    const body = await texts.find(hash)
    if (body === null && texts.isFailing) this.#noteUnread(hash, startedMs)
    return body
  }

  #noteUnread(hash: string, atMs: number): void {
    const { clock, texts } = this.#parts
    const before = this.unread === null ? null : this.#unread
    const isGap = before !== null && atMs - this.#toldMs > UNREAD_GAP_MS
    const goesOn = before !== null && (!isGap || before.hasGap)
    this.#unread = {
      hash,
      sinceMs: goesOn ? before.sinceMs : atMs,
      untilMs: Math.max(atMs, before?.untilMs ?? atMs),
      hasGap: isGap || before?.hasGap === true,
      answers: texts.answers,
    }
    this.#toldMs = clock.monotonicMs()
  }

  /** The agent has left: what waits for it is not sent, and no loss of the agent is one under that config. */
  drop(bound: Bound): void {
    if (bound.offered === null) return
    const { offer, n } = bound.offered
    bound.offered = null
    this.notSent(bound.connection.id, bound.uid, offer, n)
  }

  /** Tell the owner that this offer has not reached its agent. */
  notSent(conn: number, uid: string, { hash }: LinkOffer, n: number): void {
    this.#parts.onNotSent()
    this.#parts.link()?.send(['not-sent', conn, uid, hash, n])
  }

  /** The owner has decided this offer. */
  note({ workloadId, generation }: LinkOffer): void {
    this.#generations.delete(workloadId)
    this.#generations.set(workloadId, generation)
    if (this.#generations.size > WORKLOADS_MAX)
      this.#generations.delete(this.#generations.keys().next().value!)
  }

  /**
   * Whether this offer, decided so long ago, may still be given out: nothing else was assigned to the workload since, as
   * far as is known here.
   */
  isDue({ workloadId, generation }: LinkOffer, agoMs: number): boolean {
    return agoMs <= OFFER_MS && generation === (this.#generations.get(workloadId) ?? generation)
  }

  #send(bound: Bound, message: ServerMessage): boolean {
    const isSent = tellAgent(bound.connection, bound.uidOnWire, message) !== 'dropped'
    if (isSent) return true
    // The owner offers it again when the agent next speaks, so the owner has to see the next message, until it grants
    // that anew. It does not ask again.
    if (message.remoteConfig !== undefined) bound.isGranted = false
    Object.assign(bound.unasked, askedBy(message))
    return false
  }
}
