import type { Clock } from '../clock.ts'
import type { LinkOut } from './frames.ts'

/** The most agents that have left and of which no owner has confirmed that; the oldest are given up first. */
export const ENDINGS_MAX = 20_000
/** The most bytes of goodbyes that no owner has confirmed; the oldest are given up first. */
export const ENDINGS_BYTES_MAX = 16 * 1_048_576

/** Agents that have left a connection, by its end or, one of them, by a goodbye. */
interface Ending {
  /** 0 for an agent that polls. */
  conn: number
  uids: readonly string[]
  /** Null for the end of a connection. `saidMs`: by the monotonic clock. */
  goodbye: { message: Uint8Array; saidMs: number } | null
}

/**
 * The agents of a front that have left, until an owner has confirmed that it knows. What was under way when a link
 * ended is said again on the next one. The owner judges by the connection, of an agent that polls by the time, that they
 * have left: an agent that has come back elsewhere stays there.
 */
export class FrontEndings {
  readonly #clock: Clock
  /** By the number under which the owner answers; oldest first. */
  readonly #waiting = new Map<number, Ending>()
  /** The numbers of the goodbyes that came with polls, by uid. */
  readonly #polled = new Map<string, number>()
  #agents = 0
  #bytes = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Keep the end of a connection with these agents until it is confirmed. */
  noteEnd(n: number, conn: number, uids: readonly string[]): void {
    this.#note(n, { conn, uids, goodbye: null })
  }

  /** Keep a goodbye until it is confirmed. `message` is what of it is to be said again; `conn` is 0 for a poll. */
  noteGoodbye(n: number, conn: number, uid: string, message: Uint8Array): void {
    // A copy, because the message is a view on one that may be many times as long.
    const goodbye = { message: Uint8Array.from(message), saidMs: this.#clock.monotonicMs() }
    if (conn === 0) {
      this.isBack(uid)
      this.#polled.set(uid, n)
    }
    this.#note(n, { conn, uids: [uid], goodbye })
  }

  /** An agent polls: it has come back after the goodbye that it said with a poll. */
  isBack(uid: string): void {
    const n = this.#polled.get(uid)
    if (n !== undefined) this.confirmed(n)
  }

  confirmed(n: number): void {
    const ending = this.#waiting.get(n)
    if (ending === undefined) return
    const { conn, uids, goodbye } = ending
    this.#waiting.delete(n)
    if (conn === 0) this.#polled.delete(uids[0]!)
    this.#agents -= uids.length
    this.#bytes -= goodbye?.message.length ?? 0
  }

  /** There is a new link: say on it all that nobody has confirmed. */
  sayAll(link: LinkOut): void {
    for (const n of this.#waiting.keys()) this.say(n, link)
  }

  /** Say what is kept under this number, while nobody has confirmed it. */
  say(n: number, link: LinkOut): void {
    const ending = this.#waiting.get(n)
    if (ending === undefined) return
    const { conn, uids, goodbye } = ending
    if (goodbye === null) link.send(['ended', n, conn, uids.join(',')])
    else {
      const text = Buffer.from(goodbye.message).toString('base64')
      link.send(['goodbye', n, conn, this.#clock.monotonicMs() - goodbye.saidMs, text])
    }
  }

  #note(n: number, ending: Ending): void {
    this.#waiting.set(n, ending)
    this.#agents += ending.uids.length
    this.#bytes += ending.goodbye?.message.length ?? 0
    for (const first of this.#waiting.keys()) {
      if (this.#agents <= ENDINGS_MAX && this.#bytes <= ENDINGS_BYTES_MAX) return
      this.confirmed(first)
    }
  }
}
