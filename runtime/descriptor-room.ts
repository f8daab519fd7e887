import { readFileSync } from 'node:fs'
import { type Connections, SocketsByAddress } from './connection-room.ts'

/** What is left of the limit for the database, links, files and threads: an eighth, within these bounds. */
const RESERVE_MIN = 200
const RESERVE_MAX = 2_000

/** How many file descriptors the connections of all listeners of a process hold, and may hold. */
export class Descriptors {
  readonly most: number
  held = 0
  /** Those of connections that are no WebSockets. */
  plain = 0

  /** `limit`: how many the process may have open; null where that is not known, and then there is no bound. */
  constructor(limit: number | null) {
    this.most = limit === null ? Number.POSITIVE_INFINITY : limit - reserveOf(limit)
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
 * of what there is, but for those from an address that has a WebSocket here: an agent is one for a moment only.
 */
export class DescriptorRoom implements Connections {
  readonly #all: Descriptors
  readonly #each: number
  readonly #sockets = new SocketsByAddress()
  turnedAway = 0

  /** `each`: how many descriptors a connection may take: two where what it asks for is asked of another process. */
  constructor(all: Descriptors, each: 1 | 2) {
    this.#all = all
    this.#each = each
  }

  opened(address: string): boolean {
    const { most, held, plain } = this.#all
    this.#all.held += this.#each
    this.#all.plain += this.#each
    const isLetIn =
      held + this.#each <= most && (plain + this.#each <= most / 2 || this.#sockets.has(address))
    if (!isLetIn) this.turnedAway++
    return isLetIn
  }

  closed(): void {
    this.#all.held -= this.#each
    this.#all.plain -= this.#each
  }

  socketOpened(address: string): void {
    this.#sockets.opened(address)
    this.#all.plain -= this.#each
  }

  socketClosed(address: string): void {
    this.#sockets.closed(address)
    this.#all.held -= this.#each
  }
}
