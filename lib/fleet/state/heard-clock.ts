import type { Clock } from '../../clock.ts'
import { CATCH_UP_MS, StandStill } from './stand-still.ts'
import type { Timers } from './timers.ts'

/**
 * The time in which agents can be heard, by which the fleet measures its patience with them: how long an agent may be silent, stay
 * away, or take to apply a config, and for how long a stage is watched. `monotonicMs` stands still while this process does,
 * told by ticks that come too late, and while it is deaf, as an owner that says nothing on its links, to which fronts pass
 * on no more than they hear answers to. It never runs backwards, and it goes on a little with each tick, so that a process
 * that is late with each of them still comes to an end with everything. `now` is the time of day, as ever.
 */
export class HeardClock implements Clock {
  readonly #clock: Clock
  readonly #standStill: StandStill
  readonly #everyMs: number
  /** What it showed at the last tick, and what the clock did. */
  #heardMs: number
  #tickMs: number
  /** What it showed last. */
  #shownMs: number
  #hears = true
  #heardFromMs = 0

  /** `everyMs`: how often `tick` is called. */
  constructor(parts: { clock: Clock; timers: Timers }, everyMs: number) {
    this.#clock = parts.clock
    this.#standStill = new StandStill(parts, everyMs)
    this.#everyMs = everyMs
    this.#tickMs = parts.clock.monotonicMs()
    this.#heardMs = this.#tickMs
    this.#shownMs = this.#tickMs
  }

  now(): Date {
    return this.#clock.now()
  }

  monotonicMs(): number {
    this.#shownMs = Math.max(this.#shownMs, this.#heardMs + this.#sinceTickMs())
    return this.#shownMs
  }

  /** Did this process stand still a moment ago? */
  get stoodStill(): boolean {
    return this.#standStill.isRecent
  }

  /** Could nobody be heard at the last tick, or is it late by now? */
  get isUnheard(): boolean {
    return !this.#hears || this.#standStill.isRecent
  }

  /** To be called at equal distances by a timer. `hears`: false while what others say does not come, as from fronts that wait. */
  tick(hears: boolean): void {
    const nowMs = this.#clock.monotonicMs()
    if (hears) this.#heardMs += this.#sinceTickMs()
    else this.#heardFromMs = nowMs + CATCH_UP_MS
    this.#hears = hears && nowMs >= this.#heardFromMs
    this.#tickMs = nowMs
    this.#standStill.tick()
  }

  #sinceTickMs(): number {
    if (!this.#hears) return 0
    const passedMs = this.#clock.monotonicMs() - this.#tickMs
    return this.#standStill.isNow ? Math.min(passedMs, this.#everyMs) : passedMs
  }
}
