import { toNetwork } from '../lib/identity/login-limit.ts'

/** The socket library closes a connection that asks for nothing within three of these, and the fourth is for its turn. */
const WINDOW_MS = 4_000
const WINDOWS = 4

/**
 * How many connections that are no WebSockets each network has. The socket library does not say whose a connection was
 * that ends between two requests; but it ends those itself that ask for nothing for some ten seconds. So one counts
 * while its request is answered, and for so long after it came or had its answer: rather too long than too short.
 */
export class PlainCounts {
  readonly #nowMs: () => number
  /** Those whose requests are being answered. */
  readonly #asking = new Map<string, number>()
  /** Those that wait to be asked something, by when they began to: the oldest first. */
  readonly #waiting: Map<string, number>[] = Array.from({ length: WINDOWS }, () => new Map())
  #window = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** How many there are at most of the network of this address. */
  of(address: string): number {
    this.#forget()
    const network = toNetwork(address)
    const waiting = this.#waiting.reduce((sum, counts) => sum + (counts.get(network) ?? 0), 0)
    return waiting + (this.#asking.get(network) ?? 0)
  }

  opened(address: string): void {
    this.#forget()
    add(this.#waiting.at(-1)!, toNetwork(address), 1)
  }

  /** A connection is asked something. */
  asked(address: string): void {
    this.#forget()
    const network = toNetwork(address)
    const counts = this.#waiting.find((each) => each.has(network))
    if (counts !== undefined) add(counts, network, -1)
    add(this.#asking, network, 1)
  }

  /** That is over; `stays`: the connection goes on as one that is no WebSocket. */
  answered(address: string, stays: boolean): void {
    add(this.#asking, toNetwork(address), -1)
    if (stays) this.opened(address)
  }

  /** Forget those that the library has closed by now. */
  #forget(): void {
    const window = Math.floor(this.#nowMs() / WINDOW_MS)
    for (let passed = Math.min(WINDOWS, window - this.#window); passed > 0; passed--) {
      this.#waiting.shift()
      this.#waiting.push(new Map())
    }
    this.#window = window
  }
}

function add(counts: Map<string, number>, network: string, more: number): void {
  const count = (counts.get(network) ?? 0) + more
  if (count > 0) counts.set(network, count)
  else counts.delete(network)
}
