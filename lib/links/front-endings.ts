import type { Clock } from '../clock.ts'
import type { LinkOut } from './frames.ts'
import { saysConfig } from './kept-report.ts'
import { STORED_SINCE } from './link-versions.ts'

/** The most agents that have left and of which no owner has stored that; the oldest are given up first. */
export const ENDINGS_MAX = 20_000
/** The most bytes of what agents said last, each with a little beside its message; the oldest are given up first. */
export const ENDINGS_BYTES_MAX = 16 * 1_048_576
const BYTES_BESIDE = 256
/** What an agent said of a config so long ago is told to nobody: what it runs by now, it says itself. */
const LAST_WORD_MS = 600_000

/** Agents that have left a connection, by its end or, one of them, by a goodbye; or what one of them said last. */
interface Ending {
  /** 0 for an agent that polls. */
  conn: number
  uids: readonly string[]
  /** They count as such that have left; what is kept beside their end, or of one that polls, counts by its bytes. */
  hasLeft: boolean
  /** Null for the end of a connection. */
  said: Said | null
}

/** What an agent said last. */
interface Said {
  kind: 'goodbye' | 'last-word'
  message: Uint8Array
  /** By the monotonic clock. */
  saidMs: number
}

/** A goodbye or a last word, as it is to be kept. */
export interface LastSaid {
  /** 0 for a poll. */
  conn: number
  uid: string
  message: Uint8Array
  saidMs: number
}

/**
 * The agents of a front that have left, and what they said last, until an owner has stored that: what was under way when a
 * link ended, or was answered by an owner that died right after, is said again on the next one. The owner judges by the
 * connection, of an agent that polls by the time, that they have left: an agent that has come back elsewhere stays there.
 */
export class FrontEndings {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /** By the number under which the owner confirms it; oldest first. */
  readonly #waiting = new Map<number, Ending>()
  /** The number of each agent's last goodbye among them, by uid, and that of its last word. */
  readonly #goodbyes = new Map<string, number>()
  readonly #lastWords = new Map<string, number>()
  #agents = 0
  #bytes = 0

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Keep the end of a connection with these agents until it is confirmed. */
  noteEnd(n: number, conn: number, uids: readonly string[]): void {
    this.#note(n, { conn, uids, hasLeft: true, said: null })
  }

  /** Keep a goodbye until it is confirmed. `message` is what of it is to be said again. */
  noteGoodbye(n: number, said: LastSaid): void {
    this.#noteSaid(n, 'goodbye', said)
  }

  /** Keep what an agent said of its config, and the owner may not have heard, until it is confirmed. */
  noteLastWord(n: number, said: LastSaid): void {
    this.#noteSaid(n, 'last-word', said)
  }

  /**
   * An agent speaks here again after its goodbye, which counts no more: told late, it would end what waits for the agent
   * now. What it said with that of its config has been all the same.
   */
  isBack(uid: string): void {
    const n = this.#goodbyes.get(uid)
    if (n === undefined) return
    const { said } = this.#waiting.get(n)!
    if (!saysConfig(said!.message)) {
      this.confirmed(n)
      return
    }
    said!.kind = 'last-word'
    this.#goodbyes.delete(uid)
    this.#newest(n, 'last-word', uid)
  }

  /** It is stored, or given up. */
  confirmed(n: number): void {
    const ending = this.#waiting.get(n)
    if (ending === undefined) return
    const { uids, said } = ending
    this.#waiting.delete(n)
    this.#count(ending, -1)
    if (said === null) return
    const last = this.#lastOf(said.kind)
    if (last.get(uids[0]!) === n) last.delete(uids[0]!)
  }

  /** There is a new link: say on it all that nobody has confirmed. */
  sayAll(link: LinkOut): void {
    const sinceMs = this.#clock.monotonicMs() - LAST_WORD_MS
    for (const [n, { said }] of this.#waiting)
      if (said?.kind === 'last-word' && said.saidMs < sinceMs) this.confirmed(n)
      else this.say(n, link)
  }

  /** Say what is kept under this number, while nobody has confirmed it. */
  say(n: number, link: LinkOut): void {
    const ending = this.#waiting.get(n)
    if (ending === undefined) return
    const { conn, uids, said } = ending
    if (said === null) link.send(['ended', n, conn, uids.join(',')])
    else if (said.kind === 'goodbye' || link.version >= STORED_SINCE) {
      const text = Buffer.from(said.message).toString('base64')
      link.send([said.kind, n, conn, this.#clock.monotonicMs() - said.saidMs, text])
    }
  }

  #noteSaid(n: number, kind: Said['kind'], { conn, uid, message, saidMs }: LastSaid): void {
    // A copy, because the message is a view on one that may be many times as long.
    const said = { kind, message: Uint8Array.from(message), saidMs }
    this.#note(n, { conn, uids: [uid], hasLeft: kind === 'goodbye', said })
    this.#newest(n, kind, uid)
  }

  /** Of each kind, what an agent said last is what counts. A socket that was dead before may end after it. */
  #newest(n: number, kind: Said['kind'], uid: string): void {
    const last = this.#lastOf(kind)
    const before = last.get(uid)
    if (before !== undefined && before !== n) {
      const [former, latter] = [before, n].map((each) => this.#waiting.get(each)?.said?.saidMs)
      if (former !== undefined && latter !== undefined && former > latter) {
        this.confirmed(n)
        return
      }
      this.confirmed(before)
    }
    if (this.#waiting.has(n)) last.set(uid, n)
  }

  #lastOf(kind: Said['kind']): Map<string, number> {
    return kind === 'goodbye' ? this.#goodbyes : this.#lastWords
  }

  #note(n: number, ending: Ending): void {
    this.#waiting.set(n, ending)
    this.#count(ending, 1)
    for (const first of this.#waiting.keys()) {
      if (this.#agents <= ENDINGS_MAX && this.#bytes <= ENDINGS_BYTES_MAX) return
      this.confirmed(first)
    }
  }

  #count({ uids, said, hasLeft }: Ending, sign: 1 | -1): void {
    if (hasLeft) this.#agents += sign * uids.length
    if (said !== null) this.#bytes += sign * (said.message.length + BYTES_BESIDE)
  }
}
