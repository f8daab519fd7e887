import { readFileSync } from 'node:fs'
import { type Connections, SocketsByAddress } from './connection-room.ts'

/** What is left of the limit for the database, links, files and threads: an eighth, within these bounds. */
const RESERVE_MIN = 200
const RESERVE_MAX = 2_000

/**
 * How many are used at most, however many there are: many containers have a million or more, and each connection takes
 * memory as well, some kilobytes of the kernel's with it.
 */
const USED_MAX = 400_000
/** What agents leave to pages, the API and probes: an eighth, up to this. */
const KEPT_FOR_PAGES_MAX = 1_000

/** How many file descriptors the connections of all listeners of a process hold, and may hold. */
export class Descriptors {
  readonly most: number
  held = 0
  /** Those of connections that are no WebSockets. */
  plain = 0

  /** `limit`: how many the process may have open; null where that is not known, and then there is no bound. */
  constructor(limit: number | null) {
    this.most = limit === null ? Number.POSITIVE_INFINITY : Math.min(limit - reserveOf(limit), USED_MAX)
  }

  /** The most that agents may hold. */
  get mostOfAgents(): number {
    return this.most - Math.min(KEPT_FOR_PAGES_MAX, Math.floor(this.most / 8))
  }
}

const reserveOf = (limit: number): number =>
  Math.min(limit, Math.max(RESERVE_MIN, Math.min(RESERVE_MAX, Math.floor(limit / 8))))

/** The descriptors that this process may have open, as Linux says it; null where it does not. */
export function readDescriptorLimit(): number | null {
  try {
    const line = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return line === null ? null : Number(line[1])
  } catch {
    return null
  }
}

/**
 * Bounds the connections of a public listener, so that whoever opens them and says nothing does not take the descriptors
 * that the process needs for its database, its links and its files. Connections that are no WebSockets are bounded to half
 * of what there is, and to three eighths at each listener, so that strangers at one do not keep newcomers away from the
 * other, but for those from an address that has a WebSocket here: an agent is one for a moment only.
 */
export class DescriptorRoom implements Connections {
  readonly #all: Descriptors
  readonly #most: number
  readonly #each: number
  readonly #sockets = new SocketsByAddress()
  #plain = 0
  turnedAway = 0

  /**
   * `each`: how many descriptors a connection may take: two where what it asks for is asked of another process. `most`:
   * how many those of all listeners may hold for one more to come in here.
   */
  constructor(all: Descriptors, each: 1 | 2, most = all.most) {
    this.#all = all
    this.#most = most
    this.#each = each
  }

  opened(address: string): boolean {
    this.#all.held += this.#each
    this.#countPlain(this.#each)
    const { held, plain, most } = this.#all
    const isFew = plain <= most / 2 && this.#plain <= (most * 3) / 8
    const isLetIn = held <= this.#most && (isFew || this.#sockets.has(address))
    if (!isLetIn) this.turnedAway++
    return isLetIn
  }

  closed(): void {
    this.#all.held -= this.#each
    this.#countPlain(-this.#each)
  }

  socketOpened(address: string): void {
    this.#sockets.opened(address)
    this.#countPlain(-this.#each)
  }

  socketClosed(address: string): void {
    this.#sockets.closed(address)
    this.#all.held -= this.#each
  }

  #countPlain(more: number): void {
    this.#plain += more
    this.#all.plain += more
  }
}
