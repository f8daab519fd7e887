/** Where time comes from: stored times from `now`, delays and graces from `monotonicMs`. */
export interface Clock {
  /** Wall-clock time, cut to whole milliseconds. */
  now(): Date
  /** Milliseconds that never run backwards, whatever happens to the wall clock. */
  monotonicMs(): number
}

/** The machine's own clocks. What asks within one millisecond gets one object: thousands of agents may beat in it. */
export const systemClock: Clock = machineClock()

function machineClock(): Clock {
  let last = new Date()
  return {
    now() {
      const ms = Date.now()
      if (last.getTime() !== ms) last = new Date(ms)
      return last
    },
    monotonicMs: () => performance.now(),
  }
}
