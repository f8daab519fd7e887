import { systemClock } from '../../clock.ts'

/** Delayed work, passed so that a simulation can run it on its own clock. */
export interface Timers {
  /** Run `work` once after this many milliseconds; the returned function takes it back. */
  after(delayMs: number, work: () => void): () => void
  /** The time in which delays are measured; only differences mean something. Work that falls due runs no earlier by it. */
  nowMs(): number
}

/** The event loop's timers; they do not keep the process alive. */
export const systemTimers: Timers = {
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
  nowMs: systemClock.monotonicMs,
}
