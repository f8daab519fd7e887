import type { Clock } from '../../../lib/clock.ts'
import type { Timers } from '../../../lib/fleet/state/timers.ts'

/** The owner of scheduled work: its work does not run once it is dead, and waits while it stands still. */
export interface Mortal {
  isDead: boolean
  /** It stands still until this virtual time, as a machine that was suspended does. */
  pausedUntilMs: number
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
  #wallOffsetMs = 0
  #order = 0
  /** When the wall clock jumped, and what it had shown until then. */
  readonly #jumps: { atMs: number; wall: Date }[] = []
  readonly #events: Event[] = []
  readonly clock: Clock = {
    now: () => new Date(START_MS + Math.floor(this.#nowMs + this.#wallOffsetMs)),
    monotonicMs: () => this.#nowMs,
  }

  /** The wall clock of the database's machine, which nobody moves. */
  databaseNow(): Date {
    return new Date(START_MS + Math.floor(this.#nowMs))
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** Move the wall clock alone, as an administrator or NTP does. */
  jumpWall(ms: number): void {
    this.#jumps.push({ atMs: this.#nowMs, wall: this.clock.now() })
    this.#wallOffsetMs += ms
  }

  /** The latest that the wall clock has shown since this virtual time. */
  latestWallSince(sinceMs: number): Date {
    const shown = this.#jumps.filter(({ atMs }) => atMs >= sinceMs).map(({ wall }) => wall.getTime())
    return new Date(Math.max(this.clock.now().getTime(), ...shown))
  }

  /** Run something later, unless `owner` is dead by then; returns a function that cancels it. */
  after(delayMs: number, run: () => void, owner: Mortal | null = null): () => void {
    const event: Event = { atMs: this.#nowMs + delayMs, order: this.#order++, owner, run }
    this.#insert(event)
    return () => {
      const index = this.#events.indexOf(event)
      if (index !== -1) this.#events.splice(index, 1)
    }
  }

  #insert(event: Event): void {
    // A binary search keeps the list sorted; simulations hold a few hundred events.
    let low = 0
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(this.#events[middle]!, event)) low = middle + 1
      else high = middle
    }
    this.#events.splice(low, 0, event)
  }

  /** Timers as the event loop has them: none falls due in less than a millisecond, so time goes on between any two. */
  timersOf(owner: Mortal): Timers {
    return {
      after: (delayMs, work) => this.after(Math.max(1, delayMs), work, owner),
      nowMs: () => this.#nowMs,
    }
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
    const { owner } = next
    if (owner?.isDead === true) return true
    if (owner !== null && owner.pausedUntilMs > this.#nowMs)
      this.#insert({ ...next, atMs: owner.pausedUntilMs })
    else next.run()
    return true
  }
}

const isBefore = (a: Event, b: Event) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
