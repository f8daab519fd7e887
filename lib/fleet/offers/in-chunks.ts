import type { Timers } from '../state/timers.ts'

/** Instances looked at in one turn of the event loop. */
const CHUNK = 200

/** Do something to many, a few in each turn of the event loop, the first of them at once. */
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
      // One that breaks is passed over: the others are owed their look all the same.
      if (next < all.length) timers.after(0, workOnSome)
      else done()
    }
  }
  workOnSome()
}
