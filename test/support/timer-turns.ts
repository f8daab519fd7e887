import type { FleetTestContext } from './fleet.ts'

/** What the turns of a fleet's timers did, by something that a test counts. */
export interface TimerTurns {
  /** What is counted before and after each turn from now on. */
  count(of: () => number): void
  /** By how much the count changed in the turn that changed it most. */
  most(): number
}

/** Watch the turns of a fleet's timers; nothing is counted until the test says what. */
export function watchTurns({ timers }: FleetTestContext): TimerTurns {
  const changes: number[] = []
  let counted = () => 0
  const { after } = timers
  timers.after = (delayMs, work) =>
    after(delayMs, () => {
      const before = counted()
      work()
      changes.push(Math.abs(counted() - before))
    })
  return {
    count(of) {
      counted = of
    },
    most: () => Math.max(...changes),
  }
}
