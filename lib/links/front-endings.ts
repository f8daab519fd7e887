import type { LinkOut } from './frames.ts'
import { ENDED_SINCE } from './link-versions.ts'

/** The most agents that have left and of which no owner has confirmed that; the oldest are given up first. */
export const ENDINGS_MAX = 20_000

interface Ending {
  conn: number
  uids: readonly string[]
  isGoodbye: boolean
}

/**
 * The agents of a front that have left, until an owner has confirmed that it knows. What was under way when a link
 * ended is said again on the next one. The owner judges by the connection that they have left: an agent that has come
 * back elsewhere stays there.
 */
export class FrontEndings {
  /** By the number under which the owner answers; oldest first. */
  readonly #waiting = new Map<number, Ending>()
  #agents = 0

  /** Agents that have left without an owner's confirmation. */
  get size(): number {
    return this.#agents
  }

  /** Keep an ending until it is confirmed. */
  note(n: number, ending: Ending): void {
    this.#waiting.set(n, ending)
    this.#agents += ending.uids.length
    for (const first of this.#waiting.keys()) {
      if (this.#agents <= ENDINGS_MAX) return
      this.confirmed(first)
    }
  }

  confirmed(n: number): void {
    this.#agents -= this.#waiting.get(n)?.uids.length ?? 0
    this.#waiting.delete(n)
  }

  /** There is a new link: say on it all that nobody has confirmed. An owner that does not understand it is told nothing. */
  sayAll(link: LinkOut): void {
    if (link.version < ENDED_SINCE) {
      this.#waiting.clear()
      this.#agents = 0
    }
    for (const [n, { conn, uids, isGoodbye }] of this.#waiting)
      link.send(['ended', n, conn, uids.join(','), isGoodbye])
  }
}
