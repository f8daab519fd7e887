import type { Clock } from '../lib/clock.ts'

/** Says how long the event loop was held. */
export interface LoopWatch {
  /** The longest delay of a 10 ms timer since the last call, in milliseconds. */
  takeLongestMs(): number
  stop(): void
}

const INTERVAL_MS = 10

/** Watch the event loop with a timer; it does not keep the process alive. */
export function watchLoop(clock: Clock): LoopWatch {
  let longestMs = 0
  let dueMs = clock.monotonicMs() + INTERVAL_MS
  const timer = setInterval(() => {
    const nowMs = clock.monotonicMs()
    longestMs = Math.max(longestMs, nowMs - dueMs)
    dueMs = nowMs + INTERVAL_MS
  }, INTERVAL_MS)
  timer.unref()
  return {
    takeLongestMs() {
      // A hold that has not let the timer through yet counts as well.
      const taken = Math.max(longestMs, clock.monotonicMs() - dueMs, 0)
      longestMs = 0
      return taken
    },
    stop: () => clearInterval(timer),
  }
}
