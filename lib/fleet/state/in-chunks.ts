import type { Timers } from './timers.ts'

/** Things looked at in one turn of the event loop. */
export const CHUNK = 200

/**
 * Do something to many things, some in each turn of the event loop, the first ones at once; `done` is called last. They
 * are asked for only as their turn comes, so a generator sees what has become of the others by then. `pauseMs` says after
 * each chunk how long to wait before the next one; by default as long as a turn takes.
 */
export function inChunks<T>(
  timers: Timers,
  all: Iterable<T>,
  work: (one: T) => void,
  done: () => void = () => {},
  pauseMs: () => number = () => 0,
): void {
  const left = all[Symbol.iterator]()
  let next = left.next()
  const workOnSome = () => {
    try {
      for (let count = 0; count < CHUNK && !next.done; count++) {
        const one = next.value
        next = left.next()
        work(one)
      }
    } finally {
      // When `work` throws for one of them, the others still get their turn.
      if (next.done) done()
      else timers.after(pauseMs(), workOnSome)
    }
  }
  workOnSome()
}
