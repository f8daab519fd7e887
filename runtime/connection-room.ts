/**
 * Counts the connections of a listener that are no WebSockets, where strangers may reach it who have not said yet who they
 * are. Connections from an address that has a WebSocket here count, and are never too many: whoever is in stays in.
 */
export class ConnectionRoom {
  readonly #most: number
  /** How many WebSockets each address has that has any. */
  readonly #sockets = new Map<string, number>()
  #socketCount = 0
  #connectionCount = 0
  /** Connections that were cut as they came. */
  turnedAway = 0

  constructor(most: number) {
    this.#most = most
  }

  /** A connection has come. False, and counted, where it is to be cut at once; its end is told all the same. */
  opened(address: string): boolean {
    const others = this.#connectionCount++ - this.#socketCount
    if (others < this.#most || this.#sockets.has(address)) return true
    this.turnedAway++
    return false
  }

  /** A connection has ended, of whatever kind. */
  closed(): void {
    this.#connectionCount--
  }

  /** A connection has become a WebSocket. */
  socketOpened(address: string): void {
    this.#sockets.set(address, (this.#sockets.get(address) ?? 0) + 1)
    this.#socketCount++
  }

  socketClosed(address: string): void {
    const left = (this.#sockets.get(address) ?? 0) - 1
    if (left > 0) this.#sockets.set(address, left)
    else this.#sockets.delete(address)
    this.#socketCount--
  }
}
