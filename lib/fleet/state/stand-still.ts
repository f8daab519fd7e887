import type { Clock } from '../../clock.ts'
import type { Timers } from './timers.ts'

/** A tick that comes this much too late shows that the process stood still. */
const LATE_MS = 2_000
/** How long a process that heard nobody takes at most to hear what had come meanwhile. */
const CATCH_UP_MS = 2_000
/** So many times in which nobody was heard are remembered. */
const TIMES_MAX = 20

/**
 * When this process heard nobody: it stood still, told by ticks that came too late, or it was deaf, as while an owner says
 * nothing on its links and fronts pass on no more than they hear answers to. Whoever was silent meanwhile was not heard.
 * Of sockets that ended while it stood still it knows neither when nor why: their agents may have left because nobody
 * answered them.
 */
export class StandStill {
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #everyMs: number
  /** The last tick: by the clock, and by the time that timers run in, which alone shows whether it was late. */
  #tick: { ms: number; timerMs: number } | null = null
  #stoodStillUntilMs = 0
  #catchUpUntilMs = 0
  /** The last one at last. */
  #unheard: readonly { ms: number; untilMs: number }[] = []

  /** `everyMs`: how often `tick` is called. */
  constructor({ clock, timers }: { clock: Clock; timers: Timers }, everyMs: number) {
    this.#clock = clock
    this.#timers = timers
    this.#everyMs = everyMs
  }

  /** To be called at equal distances by a timer. `hears`: false while what others say does not come, as from fronts that wait. */
  tick(hears = true): void {
    const nowMs = this.#clock.monotonicMs()
    const before = this.#tick ?? { ms: nowMs, timerMs: 0 }
    const isLate = this.#isLate()
    if (isLate || !hears || nowMs < this.#catchUpUntilMs) this.#note(before.ms, nowMs)
    if (isLate) this.#stoodStillUntilMs = nowMs + CATCH_UP_MS
    if (isLate || !hears) this.#catchUpUntilMs = nowMs + CATCH_UP_MS
    this.#tick = { ms: nowMs, timerMs: this.#timers.nowMs() }
  }

  /** However many ticks it lasts, it is one time. */
  #note(sinceMs: number, untilMs: number): void {
    const last = this.#unheard.at(-1)
    const goesOn = last?.untilMs === sinceMs
    const ms = (goesOn ? last.ms : 0) + untilMs - sinceMs
    const others = goesOn ? this.#unheard.slice(0, -1) : this.#unheard
    this.#unheard = [...others, { ms, untilMs }].slice(-TIMES_MAX)
  }

  /** Did it stand still a moment ago? Sockets may be heard before the timer that is too late. */
  get isRecent(): boolean {
    return this.#clock.monotonicMs() < this.#stoodStillUntilMs || this.#isLate()
  }

  /** For how long nobody was heard since then, by the last tick. */
  unheardMs(sinceMs: number): number {
    let sum = 0
    for (const { ms, untilMs } of this.#unheard) sum += Math.max(0, Math.min(ms, untilMs - sinceMs))
    return sum
  }

  #isLate(): boolean {
    return this.#tick !== null && this.#timers.nowMs() - this.#tick.timerMs > this.#everyMs + LATE_MS
  }
}
