/**
 * Counts the connections of a listener that are no WebSockets, where strangers may reach it who have not said yet who they
 * are. Of those from an address that has a WebSocket here, or is known, many more may be: whoever is in stays in, and whoever
 * is expected comes in, though strangers share the address. A connection that is here cannot be told from another one
 * before it asks for something, and the socket library does not say which one ends, so that none is cut to make room.
 */
export class ConnectionRoom {
  readonly #most: number
  readonly #mostBeside: number
  readonly #isKnown: (address: string) => boolean
  /** How many WebSockets each address has that has any. */
  readonly #sockets = new Map<string, number>()
  #count = 0
  /** Connections that were cut as they came. */
  turnedAway = 0

  /**
   * `mostBeside`: the most in all at which those are still let in that come from an address that has a WebSocket, or
   * that `isKnown`.
   */
  constructor(most: number, mostBeside: number, isKnown: (address: string) => boolean = () => false) {
    this.#most = most
    this.#mostBeside = mostBeside
    this.#isKnown = isKnown
  }

  /** A connection has come. False, and counted, where it is to be cut at once; its end is told all the same. */
  opened(address: string): boolean {
    const others = this.#count++
    if (others < this.#most) return true
    if (others < this.#mostBeside && (this.#sockets.has(address) || this.#isKnown(address))) return true
    this.turnedAway++
    return false
  }

  /** A connection has ended that was no WebSocket. */
  closed(): void {
    this.#count--
  }

  /** A connection has become a WebSocket: of its end as a connection nothing is heard. */
  socketOpened(address: string): void {
    this.#sockets.set(address, (this.#sockets.get(address) ?? 0) + 1)
    this.#count--
  }

  socketClosed(address: string): void {
    const left = (this.#sockets.get(address) ?? 0) - 1
    if (left > 0) this.#sockets.set(address, left)
    else this.#sockets.delete(address)
  }
}
