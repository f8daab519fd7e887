import type { Clock } from '../../clock.ts'
import type { Timers } from './timers.ts'

/** A tick that comes this much too late shows that the process stood still. */
const LATE_MS = 2_000
/** How long a process that stood still takes at most to hear what had come meanwhile. */
export const CATCH_UP_MS = 2_000

/**
 * Whether this process stood still a moment ago, told by ticks that came too late. Of sockets that ended meanwhile it
 * knows neither when nor why: their agents may have left because nobody answered them.
 */
export class StandStill {
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #everyMs: number
  /** By the time in which timers run: a clock that leaps makes no tick late. */
  #tickMs: number | null = null
  #caughtUpMs = 0

  /** `everyMs`: how often `tick` is called. */
  constructor({ clock, timers }: { clock: Clock; timers: Timers }, everyMs: number) {
    this.#clock = clock
    this.#timers = timers
    this.#everyMs = everyMs
  }

  /** To be called at equal distances by a timer. */
  tick(): void {
    if (this.isNow) this.#caughtUpMs = this.#clock.monotonicMs() + CATCH_UP_MS
    this.#tickMs = this.#timers.nowMs()
  }

  /** Sockets may be heard before the timer that is too late. */
  get isRecent(): boolean {
    return this.#clock.monotonicMs() < this.#caughtUpMs || this.isNow
  }

  /** Is the next tick too late by now? */
  get isNow(): boolean {
    return this.#tickMs !== null && this.#timers.nowMs() - this.#tickMs > this.#everyMs + LATE_MS
  }
}
