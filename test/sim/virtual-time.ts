import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/fleet/state/timers.ts'

/** Whatever scheduled something: what it scheduled does not happen after its death. */
export interface Mortal {
  isDead: boolean
}

interface Event {
  atMs: number
  order: number
  owner: Mortal | null
  run: () => void
}

const START_MS = Date.parse('2026-07-01T08:00:00.000Z')

/** Time that moves from event to event, the same way for the same seed. */
export class VirtualTime {
  #nowMs = 1_000
  #order = 0
  #events: Event[] = []
  readonly clock: Clock = {
    now: () => new Date(START_MS + Math.floor(this.#nowMs)),
    monotonicMs: () => this.#nowMs,
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** Run something later; returns how to take it back. */
  after(delayMs: number, run: () => void, owner: Mortal | null = null): () => void {
    const event: Event = { atMs: this.#nowMs + delayMs, order: this.#order++, owner, run }
    // A binary search keeps the list sorted; simulations hold a few hundred events.
    let low = 0
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(this.#events[middle]!, event)) low = middle + 1
      else high = middle
    }
    this.#events.splice(low, 0, event)
    return () => {
      const index = this.#events.indexOf(event)
      if (index !== -1) this.#events.splice(index, 1)
    }
  }

  timersOf(owner: Mortal): Timers {
    return { after: (delayMs, work) => this.after(delayMs, work, owner) }
  }

  /** Take the next event that is due before `untilMs` and run it; false when there is none. */
  step(untilMs: number): boolean {
    const next = this.#events[0]
    if (next === undefined || next.atMs > untilMs) {
      this.#nowMs = untilMs
      return false
    }
    this.#events.shift()
    this.#nowMs = Math.max(this.#nowMs, next.atMs)
    if (next.owner?.isDead !== true) next.run()
    return true
  }
}

const isBefore = (a: Event, b: Event) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)

/** A small repeatable generator of choices. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761) >>> 0 || 1
  }

  /** 0 ≤ x < 1. */
  next(): number {
    // xorshift32
    let x = this.#state
    x ^= x << 13
    x >>>= 0
    x ^= x >>> 17
    x ^= x << 5
    this.#state = x >>> 0
    return this.#state / 4_294_967_296
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low)
  }

  int(below: number): number {
    return Math.floor(this.next() * below)
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(items.length)]!
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.int(256))
  }
}
