import type { Timers } from '../state/timers.ts'

/** Instances looked at in one turn of the event loop. */
const CHUNK = 200

/** Do something to many things, some in each turn of the event loop, the first ones at once; `done` is called last. */
export function inChunks<T>(
  timers: Timers,
  all: readonly T[],
  work: (one: T) => void,
  done: () => void = () => {},
): void {
  let next = 0
  const workOnSome = () => {
    const end = Math.min(next + CHUNK, all.length)
    try {
      while (next < end) work(all[next++]!)
    } finally {
      // When `work` throws for one of them, the others still get their turn.
      if (next < all.length) timers.after(0, workOnSome)
      else done()
    }
  }
  workOnSome()
}
