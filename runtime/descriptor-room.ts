import { readFileSync } from 'node:fs'
import { toNetwork } from '../lib/identity/login-limit.ts'
import { type Connections, SocketsByAddress } from './connection-room.ts'
import { PlainCounts } from './plain-counts.ts'

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
/** From this part of what agents may hold on their handshakes are turned away, before their connections are cut. */
const TURNED_AWAY_FROM = 31 / 32
/** As many connections does a browser open for a page, beside the page's WebSocket. */
const OF_A_PAGE = 8

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

  /** The most connections to an owner that are kept unused: several fronts leave one with as many files room for others. */
  get mostKept(): number {
    return Math.max(1, Math.floor(this.most / 16))
  }

  /** The most WebSockets that agents may hold: a little less, so that one more hears that it is to come back later. */
  get mostSocketsOfAgents(): number {
    return Math.max(1, Math.floor(this.mostOfAgents * TURNED_AWAY_FROM))
  }
}

/** So many are for a listener that only few have to reach: they come out of what the public ones leave. */
const FEW = 128

/** A room for the connections of such a listener, whatever others hold. */
export const fewConnections = (): DescriptorRoom =>
  new DescriptorRoom({ all: new Descriptors(FEW + RESERVE_MIN), each: 1 })

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

/** What a room for connections is made of. */
interface DescriptorRoomParts {
  all: Descriptors
  /** How many descriptors a connection may take: two where what it asks for is asked of another process. */
  each: 1 | 2
  /** How many those of all listeners may hold for one more to come in here. */
  most?: number
  /** Whether it is a proxy of ours, which opens its connections for others and itself ends those that say nothing. */
  isProxy?(address: string): boolean
  /** A time that never goes back. */
  nowMs?(): number
}

/**
 * Bounds the connections of a public listener, so that whoever opens them and says nothing does not take the descriptors
 * that the process needs for its database, its links and its files. Connections that are no WebSockets are bounded to half
 * of what there is, and to three eighths at each listener, so that strangers at one do not keep newcomers away from the
 * other: an agent is one for a moment only. A sixteenth of what there is, of either, is for networks that have a WebSocket
 * here. Of the rest a network may hold no more than what it leaves to others: however few networks fill it, there is
 * room for somebody else.
 */
export class DescriptorRoom implements Connections {
  readonly #all: Descriptors
  readonly #most: number
  readonly #each: number
  readonly #isProxy: (address: string) => boolean
  readonly #sockets = new SocketsByAddress()
  readonly #counts: PlainCounts
  #plain = 0
  turnedAway = 0

  constructor({ all, each, most = all.most, isProxy, nowMs }: DescriptorRoomParts) {
    this.#all = all
    this.#most = most
    this.#each = each
    this.#isProxy = isProxy ?? (() => false)
    this.#counts = new PlainCounts(nowMs ?? (() => performance.now()))
  }

  opened(address: string): boolean {
    this.#all.held += this.#each
    this.#countPlain(this.#each)
    const isLetIn = this.#all.held <= this.#most && (this.#hasRoom(address) || this.#hasRoomBeside(address))
    if (isLetIn) this.#counts.opened(address)
    else this.turnedAway++
    return isLetIn
  }

  closed(): void {
    this.#all.held -= this.#each
    this.#countPlain(-this.#each)
  }

  asked(address: string): void {
    this.#counts.asked(address)
  }

  answered(address: string, stays: boolean): void {
    this.#counts.answered(address, stays)
  }

  socketOpened(address: string): void {
    this.#sockets.opened(toNetwork(address))
    this.#countPlain(-this.#each)
  }

  socketClosed(address: string): void {
    this.#sockets.closed(toNetwork(address))
    this.#all.held -= this.#each
  }

  /** Whether one more, which is counted already, leaves to others as much as its network holds without it. */
  #hasRoom(address: string): boolean {
    const left = this.#left(1 / 16)
    return left >= 0 && (this.#counts.of(address) * this.#each <= left || this.#isProxy(address))
  }

  /** The same of the part for addresses that have WebSockets here: for each one as many connections as a page opens. */
  #hasRoomBeside(address: string): boolean {
    const most = this.#sockets.of(toNetwork(address)) * OF_A_PAGE
    return this.#left(0) >= 0 && this.#counts.of(address) < most
  }

  /** What is left of that for connections that are no WebSockets, but for this part of all there is. */
  #left(kept: number): number {
    const { plain, most } = this.#all
    return Math.min(most * (1 / 2 - kept) - plain, most * (3 / 8 - kept) - this.#plain)
  }

  #countPlain(more: number): void {
    this.#plain += more
    this.#all.plain += more
  }
}
