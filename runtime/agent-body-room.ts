import type { ByteBudget } from '../lib/byte-budget.ts'
import { toNetwork } from '../lib/identity/login-limit.ts'
import { type BodyRoom, type BodyShare, SMALL_BYTES_MAX } from './body-room.ts'

type Kind = 'short' | 'long'

/** How long a body may be on its way though others want its room. */
const UNHURRIED_MS = 5_000

/** A body of an agent, on its way in or being answered. */
interface Body {
  network: string
  kind: Kind
  bytes: number
  beganMs: number
  /** Refuse it, which gives back what it holds. */
  cut(): void
}

/** What bodies of one kind hold, in all and by the network of their sender. */
class Held {
  readonly bytesMax: number
  readonly #of = new Map<string, number>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  add(network: string, bytes: number): void {
    const now = (this.#of.get(network) ?? 0) + bytes
    if (now > 0) this.#of.set(network, now)
    else this.#of.delete(network)
    this.#bytes += bytes
  }

  /** Whether so many bytes more are too many of all senders, or else of this one, which may hold half; null for neither. */
  lacks(network: string, bytes: number): 'room' | 'share' | null {
    if (this.#bytes + bytes > this.bytesMax) return 'room'
    return (this.#of.get(network) ?? 0) + bytes > this.bytesMax / 2 ? 'share' : null
  }
}

/**
 * The room for what agents send over HTTP, within the budget for all that is decoded. Half of it is for long bodies, a
 * quarter for short ones, which all polls are but the first, and a quarter is left to inflate them and to what sockets say.
 * One network holds half of either. Where room is wanted, the body that began first is refused to make it, once it has
 * had some seconds: whoever sends slowly cannot keep those away who send at once.
 */
export class AgentBodyRoom implements BodyRoom {
  readonly #budget: ByteBudget
  readonly #addressOf: (peerAddress: string, header: (name: string) => string) => string
  readonly #nowMs: () => number
  readonly #held: Record<Kind, Held>
  /** The bodies that are not whole yet and hold something, the one that began first before all others. */
  readonly #unfinished = new Set<Body>()

  constructor(
    budget: ByteBudget,
    addressOf: (peerAddress: string, header: (name: string) => string) => string,
    nowMs: () => number,
  ) {
    this.#budget = budget
    this.#addressOf = addressOf
    this.#nowMs = nowMs
    this.#held = { short: new Held(budget.bytesMax / 4), long: new Held(budget.bytesMax / 2) }
  }

  free(): number {
    return this.#budget.free()
  }

  begin(
    peerAddress: string,
    header: (name: string) => string,
    _: unknown,
    cut: () => void = () => undefined,
  ): BodyShare {
    const kind = Number(header('content-length')) > SMALL_BYTES_MAX ? 'long' : 'short'
    const network = toNetwork(this.#addressOf(peerAddress, header))
    const body: Body = { network, kind, bytes: 0, beganMs: this.#nowMs(), cut }
    return {
      take: (bytes) => this.#take(body, bytes),
      whole: () => void this.#unfinished.delete(body),
      holdFor: () => true,
      giveBack: () => this.#give(body),
    }
  }

  #take(body: Body, bytes: number): boolean {
    const all = body.bytes + bytes
    const kind = all > SMALL_BYTES_MAX ? 'long' : body.kind
    if (!this.#makeRoom(body, kind, kind === body.kind ? bytes : all) || !this.#budget.take(bytes))
      return false
    this.#held[body.kind].add(body.network, -body.bytes)
    body.kind = kind
    body.bytes = all
    this.#held[kind].add(body.network, all)
    this.#unfinished.add(body)
    return true
  }

  #give(body: Body): void {
    this.#unfinished.delete(body)
    this.#held[body.kind].add(body.network, -body.bytes)
    this.#budget.give(body.bytes)
    body.bytes = 0
  }

  /** Whether there is room for so many bytes more of this kind, after slow bodies have been refused for them. */
  #makeRoom(body: Body, kind: Kind, bytes: number): boolean {
    for (;;) {
      const lack = this.#held[kind].lacks(body.network, bytes)
      if (lack === null) return true
      const slow = this.#slow(body, kind, lack === 'share')
      if (slow === null) return false
      slow.cut()
    }
  }

  #slow(body: Body, kind: Kind, isOfSame: boolean): Body | null {
    const untilMs = this.#nowMs() - UNHURRIED_MS
    for (const other of this.#unfinished) {
      if (other.beganMs > untilMs) return null
      if (other === body || other.kind !== kind) continue
      if (!isOfSame || other.network === body.network) return other
    }
    return null
  }
}
