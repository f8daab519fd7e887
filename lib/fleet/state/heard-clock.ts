import type { Clock, FleetClock } from '../../clock.ts'
import { CATCH_UP_MS, StandStill } from './stand-still.ts'
import type { Timers } from './timers.ts'

/** So many ticks without hearing anybody hold back what is heard later; fewer, as of a slow database, do not. */
const DEAF_TICKS = 5

/**
 * Heard time: the time in which agents can be heard, by which the fleet measures its patience with them: how long an agent may be silent, stay
 * away, or take to apply a config, and for how long a stage is watched. `heardMs` stands still while this process does,
 * told by ticks that come too late, and while it is deaf, as an owner that says nothing on its links, to which fronts pass
 * on no more than they hear answers to. It never runs backwards, and it goes on a little with each tick at which somebody can
 * be heard, so that a process that is late with each of them, or deaf at every other one, still comes to an end with
 * everything. `now` is the time of day, as ever.
 */
export class HeardClock implements FleetClock {
  readonly machine: Clock
  readonly #standStill: StandStill
  readonly #everyMs: number
  /** What it showed at the last tick, and what the clock did. */
  #heardMs: number
  #tickMs: number
  /** What it showed last. */
  #shownMs: number
  #hears = true
  #deafTicks = 0
  #caughtUpMs = 0

  /** `everyMs`: how often `tick` is called. */
  constructor(parts: { clock: Clock; timers: Timers }, everyMs: number) {
    this.machine = parts.clock
    this.#standStill = new StandStill(parts, everyMs)
    this.#everyMs = everyMs
    this.#tickMs = parts.clock.monotonicMs()
    this.#heardMs = this.#tickMs
    this.#shownMs = this.#tickMs
  }

  now(): Date {
    return this.machine.now()
  }

  heardMs(): number {
    const sinceMs = this.#hears ? this.#passedMs() : 0
    this.#shownMs = Math.max(this.#shownMs, this.#heardMs + sinceMs)
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
    const nowMs = this.machine.monotonicMs()
    this.#deafTicks = hears ? 0 : this.#deafTicks + 1
    if (this.#deafTicks >= DEAF_TICKS) this.#caughtUpMs = nowMs + CATCH_UP_MS
    this.#hears = hears && nowMs >= this.#caughtUpMs
    if (this.#hears) this.#heardMs += this.#passedMs()
    this.#tickMs = nowMs
    this.#standStill.tick()
  }

  /** What passed since the last tick, of a stand-still no more than is between two ticks. */
  #passedMs(): number {
    const passedMs = this.machine.monotonicMs() - this.#tickMs
    return this.#standStill.isNow ? Math.min(passedMs, this.#everyMs) : passedMs
  }
}
