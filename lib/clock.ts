/** Where time comes from: stored times from `now`, delays and graces from `monotonicMs`. */
export interface Clock {
  /** Wall-clock time, cut to whole milliseconds. */
  now(): Date
  /** Milliseconds that never run backwards, whatever happens to the wall clock. */
  monotonicMs(): number
}

/** The machine's own clocks. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
}
