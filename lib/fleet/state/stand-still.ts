import type { Clock } from '../../clock.ts'

/** A tick that comes this much too late shows that the process stood still. */
const LATE_MS = 2_000
/** How long a process that stood still takes at most to hear what had come meanwhile. */
const CATCH_UP_MS = 2_000
/** So many times that it stood still are remembered. */
const STALLS_MAX = 20

/**
 * Whether this process stood still a moment ago, told by ticks that came too late. Of sockets that ended meanwhile it
 * knows neither when nor why: their agents may have left because nobody answered them.
 */
export class StandStill {
  readonly #clock: Clock
  readonly #everyMs: number
  #tickMs: number | null = null
  #caughtUpMs = 0
  #deafUntilMs = 0
  /** The last one at last. */
  #stalls: readonly { ms: number; noticedMs: number }[] = []

  /** `everyMs`: how often `tick` is called. */
  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock
    this.#everyMs = everyMs
  }

  /** To be called at equal distances by a timer. `hears`: false while what others say does not come, as from fronts that wait. */
  tick(hears = true): void {
    const nowMs = this.#clock.monotonicMs()
    const passedMs = nowMs - (this.#tickMs ?? nowMs)
    if (this.#isLate(nowMs)) {
      this.#caughtUpMs = nowMs + CATCH_UP_MS
      const ms = nowMs - this.#tickMs! - this.#everyMs
      this.#stalls = [...this.#stalls, { ms, noticedMs: nowMs }].slice(-STALLS_MAX)
    } else if (!hears || nowMs < this.#deafUntilMs) this.#prolong(passedMs, nowMs)
    if (!hears) this.#deafUntilMs = nowMs + CATCH_UP_MS
    this.#tickMs = nowMs
  }

  /** It was deaf until now: one stall, however many ticks that lasts. */
  #prolong(ms: number, nowMs: number): void {
    const last = this.#stalls.at(-1)
    const before = last?.noticedMs === nowMs - ms ? last.ms : 0
    const others = before > 0 ? this.#stalls.slice(0, -1) : this.#stalls
    this.#stalls = [...others, { ms: before + ms, noticedMs: nowMs }].slice(-STALLS_MAX)
  }

  /** Sockets may be heard before the timer that is too late. */
  get isRecent(): boolean {
    const nowMs = this.#clock.monotonicMs()
    return nowMs < this.#caughtUpMs || this.#isLate(nowMs)
  }

  /** For how long it stood still or was deaf since then, by the last tick: whoever was silent meanwhile was not heard. */
  stoodMs(sinceMs: number): number {
    let sum = 0
    for (const { ms, noticedMs } of this.#stalls) sum += Math.max(0, Math.min(ms, noticedMs - sinceMs))
    return sum
  }

  #isLate(nowMs: number): boolean {
    return this.#tickMs !== null && nowMs - this.#tickMs > this.#everyMs + LATE_MS
  }
}
