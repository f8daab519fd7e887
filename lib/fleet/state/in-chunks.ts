import type { Timers } from './timers.ts'

/** Things looked at in one turn of the event loop. */
export const CHUNK = 200

/**
 * Do something to many things, some in each turn of the event loop, the first ones at once; `done` is called last. They
 * are asked for only as their turn comes, so a generator sees what has become of the others by then.
 */
export function inChunks<T>(
  timers: Timers,
  all: Iterable<T>,
  work: (one: T) => void,
  done: () => void = () => {},
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
      else timers.after(0, workOnSome)
    }
  }
  workOnSome()
}
