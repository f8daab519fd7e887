import type { Clock } from '../../clock.ts'

/** A tick that comes this much too late shows that the process stood still. */
const LATE_MS = 2_000
/** How long a process that stood still takes at most to hear what had come meanwhile. */
const CATCH_UP_MS = 2_000
/** So many times that it was deaf are remembered. */
const DEAF_TIMES_MAX = 20

/**
 * Whether this process stood still a moment ago, told by ticks that came too late. Of sockets that ended meanwhile it
 * knows neither when nor why: their agents may have left because nobody answered them. And for how long it was deaf: while
 * an owner says nothing on its links, fronts pass on no more than they hear answers to.
 */
export class StandStill {
  readonly #clock: Clock
  readonly #everyMs: number
  #tickMs: number | null = null
  #caughtUpMs = 0
  #deafUntilMs = 0
  /** The last one at last. */
  #deafTimes: readonly { ms: number; untilMs: number }[] = []

  /** `everyMs`: how often `tick` is called. */
  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock
    this.#everyMs = everyMs
  }

  /** To be called at equal distances by a timer. `hears`: false while what others say does not come, as from fronts that wait. */
  tick(hears = true): void {
    const nowMs = this.#clock.monotonicMs()
    if (this.#isLate(nowMs)) this.#caughtUpMs = nowMs + CATCH_UP_MS
    if (!hears || nowMs < this.#deafUntilMs) this.#noteDeaf(this.#tickMs ?? nowMs, nowMs)
    if (!hears) this.#deafUntilMs = nowMs + CATCH_UP_MS
    this.#tickMs = nowMs
  }

  /** However many ticks it lasts, it is one time. */
  #noteDeaf(sinceMs: number, untilMs: number): void {
    const last = this.#deafTimes.at(-1)
    const isOneMore = last?.untilMs !== sinceMs
    const ms = (isOneMore ? 0 : last.ms) + untilMs - sinceMs
    const others = isOneMore ? this.#deafTimes : this.#deafTimes.slice(0, -1)
    this.#deafTimes = [...others, { ms, untilMs }].slice(-DEAF_TIMES_MAX)
  }

  /** Sockets may be heard before the timer that is too late. */
  get isRecent(): boolean {
    const nowMs = this.#clock.monotonicMs()
    return nowMs < this.#caughtUpMs || this.#isLate(nowMs)
  }

  /** For how long it was deaf since then, by the last tick: whoever was silent meanwhile was not heard. */
  deafMs(sinceMs: number): number {
    let sum = 0
    for (const { ms, untilMs } of this.#deafTimes) sum += Math.max(0, Math.min(ms, untilMs - sinceMs))
    return sum
  }

  #isLate(nowMs: number): boolean {
    return this.#tickMs !== null && nowMs - this.#tickMs > this.#everyMs + LATE_MS
  }
}
