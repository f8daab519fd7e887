/** Where time comes from: stored times from `now`, delays and graces from `monotonicMs`. */
export interface Clock {
  /** Wall-clock time, cut to whole milliseconds. */
  now(): Date
  /** Milliseconds that never run backwards, whatever happens to the wall clock. */
  monotonicMs(): number
}

/**
 * The time of those who wait for agents. What was heard of them is held to `heardMs`, the time in which they can be heard,
 * which comments call heard time; what passes while nobody can be, and how long ago something was said elsewhere, to the
 * machine's clock. What is stored is by the time of day, and says nothing of either.
 */
export interface FleetClock extends Pick<Clock, 'now'> {
  /** Heard time: milliseconds in which agents could be heard; they never run backwards, and may stand still. */
  heardMs(): number
  /** The machine's clock, whose times are not comparable with those of `heardMs`. */
  readonly machine: Clock
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
