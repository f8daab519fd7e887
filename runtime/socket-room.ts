import { toNetwork } from '../lib/identity/login-limit.ts'

/** How many WebSockets one listener carries. */
export interface SocketLimits {
  inAll: number
  /** From one IPv4 address, or from the /64 that one IPv6 customer has. */
  perAddress: number
}

/** The answer to a handshake for which there is no room. */
export const NO_ROOM = {
  accept: false,
  status: 503,
  body: 'too many connections\n',
  headers: { 'Retry-After': '30' },
} as const

/** Counts the open sockets of one listener: each may hold a message that is not whole yet, and what is sent to it. */
export class SocketRoom {
  readonly #limits: SocketLimits
  /** How many sockets are open from each network that has any. */
  readonly #open = new Map<string, number>()
  #count = 0
  /** Handshakes that found no room. */
  turnedAway = 0

  constructor(limits: SocketLimits) {
    this.#limits = limits
  }

  /** How many sockets are open. */
  get size(): number {
    return this.#count
  }

  /** How many networks have open sockets. */
  get networks(): number {
    return this.#open.size
  }

  /** False, and counted, when one more from this address would be too many. */
  hasRoom(address: string): boolean {
    const { inAll, perAddress } = this.#limits
    if (this.#count < inAll && (this.#open.get(toNetwork(address)) ?? 0) < perAddress) return true
    this.turnedAway++
    return false
  }

  opened(address: string): void {
    const network = toNetwork(address)
    this.#open.set(network, (this.#open.get(network) ?? 0) + 1)
    this.#count++
  }

  closed(address: string): void {
    const network = toNetwork(address)
    const left = (this.#open.get(network) ?? 0) - 1
    if (left > 0) this.#open.set(network, left)
    else this.#open.delete(network)
    this.#count--
  }
}
