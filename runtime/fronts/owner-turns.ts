import type { Clock } from '../../lib/clock.ts'
import type { Owner } from '../../lib/cluster/membership.ts'
import type { Timers } from '../../lib/fleet/state/timers.ts'

/** How often it is looked whether there is an owner, as long as anybody waits for one. */
const LOOK_MS = 50
/** How long an owner that cannot be reached is left alone, at first and at most. */
const TRY_MS = 50
const TRY_MS_MAX = 1_000

/** What the turns need of their process. */
export interface OwnerTurnsParts {
  owner(): Owner | null
  /** Read again at once who the owner is. */
  lookAgain(): void
  clock: Clock
  timers: Timers
}

/** Leave to ask an owner once. */
export interface Turn {
  owner: Owner
  /** Others wait until it is known whether this one reaches the owner. */
  isTrial: boolean
  /** Whether the owner could be reached: said as soon as it is known, and again where it turns out otherwise. */
  ended(isReached: boolean): void
}

interface Waiter {
  untilMs: number
  isGone(): boolean
  resolve(turn: Turn | null): void
}

/** An owner that could not be reached. */
interface Doubt {
  epoch: number
  address: string
  /** Since when nothing has reached it. */
  sinceMs: number
  /** How long the next wait is. */
  waitMs: number
  tryAtMs: number
  /** Somebody is trying now. */
  isTried: boolean
}

/**
 * Says when the owner may be asked: at once, as long as it can be reached. Once it cannot, all wait together, and one at
 * a time tries again, each time later, until one reaches it or there is another owner.
 */
export class OwnerTurns {
  readonly #parts: OwnerTurnsParts
  readonly #waiting = new Set<Waiter>()
  #doubt: Doubt | null = null
  #isLooking = false

  constructor(parts: OwnerTurnsParts) {
    this.#parts = parts
  }

  /** A turn as soon as there is one; null where that is too late, or whoever wants it is gone. */
  next(untilMs: number, isGone: () => boolean): Promise<Turn | null> {
    const turn = this.#waiting.size === 0 ? this.take() : null
    if (turn !== null) return Promise.resolve(turn)
    return new Promise((resolve) => {
      this.#waiting.add({ untilMs, isGone, resolve })
      this.#look()
    })
  }

  /** A connection to this owner has ended by itself: one tries at once whether it still can be reached, the others wait. */
  lost(epoch: number): void {
    const owner = this.#parts.owner()
    if (owner?.epoch === epoch) this.#doubtOf(owner) ?? this.#begin(owner, 0)
  }

  #doubtOf({ epoch, address }: Owner): Doubt | null {
    const doubt = this.#doubt
    return doubt?.epoch === epoch && doubt.address === address ? doubt : null
  }

  #begin({ epoch, address }: Owner, afterMs: number): void {
    const sinceMs = this.#parts.clock.monotonicMs()
    const tryAtMs = sinceMs + afterMs
    this.#doubt = { epoch, address, sinceMs, waitMs: TRY_MS, tryAtMs, isTried: false }
  }

  /** For how long the owner of now could not be reached when that was tried; 0 where it could. */
  get doubtMs(): number {
    const owner = this.#parts.owner()
    const doubt = owner === null ? null : this.#doubtOf(owner)
    return doubt === null ? 0 : this.#parts.clock.monotonicMs() - doubt.sinceMs
  }

  /** A turn where there is one now. */
  take(): Turn | null {
    const owner = this.#parts.owner()
    if (owner === null) return null
    const doubt = this.#doubtOf(owner)
    if (doubt === null) this.#doubt = null
    else if (doubt.isTried || this.#parts.clock.monotonicMs() < doubt.tryAtMs) return null
    else doubt.isTried = true
    return { owner, isTrial: doubt !== null, ended: (isReached) => this.#ended(owner, doubt, isReached) }
  }

  /** A turn is over; `tried` is the doubt that it was to settle. */
  #ended(owner: Owner, tried: Doubt | null, isReached: boolean): void {
    const doubt = this.#doubtOf(owner)
    if (isReached) {
      if (doubt !== null && doubt === tried) this.#doubt = null
    } else if (doubt === null) {
      const now = this.#parts.owner()
      if (now?.epoch === owner.epoch && now.address === owner.address) this.#begin(owner, TRY_MS)
    } else if (doubt === tried) {
      doubt.isTried = false
      doubt.tryAtMs = this.#parts.clock.monotonicMs() + doubt.waitMs
      doubt.waitMs = Math.min(TRY_MS_MAX, doubt.waitMs * 2)
    }
    this.#serve()
  }

  /** Give out the turns that there are. */
  #serve(): void {
    const nowMs = this.#parts.clock.monotonicMs()
    for (const waiter of this.#waiting) {
      const isLate = waiter.isGone() || nowMs >= waiter.untilMs
      const turn = isLate ? null : this.take()
      if (!isLate && turn === null) continue
      this.#waiting.delete(waiter)
      waiter.resolve(turn)
    }
  }

  #look(): void {
    if (this.#isLooking || this.#waiting.size === 0) return
    this.#isLooking = true
    this.#parts.lookAgain()
    this.#parts.timers.after(LOOK_MS, () => {
      this.#isLooking = false
      this.#serve()
      this.#look()
    })
  }
}
