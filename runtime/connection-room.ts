import type { Descriptors } from './descriptor-room.ts'

/** What a listener tells of its connections, and asks of each that comes. */
export interface Connections {
  /** A connection has come. False, and counted, where it is to be cut at once; its end is told all the same. */
  opened(address: string): boolean
  /** A connection has ended that was no WebSocket. */
  closed(): void
  /** A connection is asked something. */
  asked(address: string): void
  /** That is over; `stays`: the connection goes on as one that is no WebSocket. */
  answered(address: string, stays: boolean): void
  /** A connection has become a WebSocket: of its end as a connection nothing is heard. */
  socketOpened(address: string): void
  socketClosed(address: string): void
  /** Connections that were cut as they came. */
  readonly turnedAway: number
}

/** How many WebSockets each address has that has any. */
export class SocketsByAddress {
  readonly #counts = new Map<string, number>()

  opened(address: string): void {
    this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1)
  }

  closed(address: string): void {
    const left = (this.#counts.get(address) ?? 0) - 1
    if (left > 0) this.#counts.set(address, left)
    else this.#counts.delete(address)
  }

  of(address: string): number {
    return this.#counts.get(address) ?? 0
  }
}

/**
 * Counts the connections of a listener that are no WebSockets, where strangers may reach it who have not said yet who they
 * are. Of those from an address that has a WebSocket here, or is known, many more may be: whoever is in stays in, and whoever
 * is expected comes in, though strangers share the address. A connection that is here cannot be told from another one
 * before it asks for something, and the socket library does not say which one ends, so that none is cut to make room.
 */
export class ConnectionRoom implements Connections {
  readonly #most: number
  readonly #mostBeside: number
  readonly #isKnown: (address: string) => boolean
  readonly #descriptors: Descriptors
  readonly #sockets = new SocketsByAddress()
  #count = 0
  turnedAway = 0

  /**
   * `mostBeside`: the most in all at which those are still let in that come from an address that has a WebSocket, or
   * that `isKnown`. `descriptors`: where the process counts what its connections hold.
   */
  constructor(
    most: number,
    mostBeside: number,
    descriptors: Descriptors,
    isKnown: (address: string) => boolean = () => false,
  ) {
    this.#most = most
    this.#mostBeside = mostBeside
    this.#descriptors = descriptors
    this.#isKnown = isKnown
  }

  opened(address: string): boolean {
    this.#descriptors.held++
    const others = this.#count++
    if (others < this.#most) return true
    if (others < this.#mostBeside && (this.#sockets.of(address) > 0 || this.#isKnown(address))) return true
    this.turnedAway++
    return false
  }

  closed(): void {
    this.#descriptors.held--
    this.#count--
  }

  /** Members speak for many, so that it does not matter which of them asks how much. */
  asked(): void {}

  answered(): void {}

  socketOpened(address: string): void {
    this.#sockets.opened(address)
    this.#count--
  }

  socketClosed(address: string): void {
    this.#descriptors.held--
    this.#sockets.closed(address)
  }
}
