import { setImmediate as immediate } from 'node:timers/promises'
import type { Clock } from './clock.ts'

/** Wait for the next turn of the event loop, so that agents and other requests go first. */
export const nextTurn = (): Promise<void> => immediate()

/** Cut a long list into pieces of `size` items, with a turn of the event loop between two of them. */
export async function* inTurns<T>(items: Iterable<T>, size: number): AsyncGenerator<readonly T[], void> {
  let piece: T[] = []
  for (const item of items) {
    if (piece.length === size) {
      yield piece
      await nextTurn()
      piece = []
    }
    piece.push(item)
  }
  if (piece.length > 0) yield piece
}

/** How many milliseconds a long loop may take before others get their turn. */
const TURN_MS = 10

/** When others get their turn in a long loop. */
export interface Turns {
  /** After so many items, whatever the time is. */
  size: number
  /** Sooner, where they took long by this clock. */
  clock: Pick<Clock, 'monotonicMs'>
}

/** Says when a long work over several lists lets others have their turn. */
export class Pace {
  readonly #turns: Turns
  #looked = 0
  #sinceMs: number

  constructor(turns: Turns) {
    this.#turns = turns
    this.#sinceMs = turns.clock.monotonicMs()
  }

  /** Before each item, which counts for so many: a promise where it is others' turn, else null. */
  beat(items = 1): Promise<void> | null {
    const { size, clock } = this.#turns
    const isOver = this.#looked >= size || clock.monotonicMs() - this.#sinceMs >= TURN_MS
    const isDue = this.#looked > 0 && isOver
    this.#looked = (isDue ? 0 : this.#looked) + items
    return isDue ? this.#rest() : null
  }

  async #rest(): Promise<void> {
    await nextTurn()
    this.#sinceMs = this.#turns.clock.monotonicMs()
  }
}

/** Look at each item of a long list, with turns of the event loop between. For items of which one may take long. */
export async function eachInTurns<T>(
  items: Iterable<T>,
  turns: Turns | Pace,
  look: (item: T) => void,
): Promise<void> {
  const pace = turns instanceof Pace ? turns : new Pace(turns)
  for (const item of items) {
    const rest = pace.beat()
    if (rest !== null) await rest
    look(item)
  }
}

/** How many items `isSo` holds for, looked at `size` at a time with a turn of the event loop between. */
export async function countInTurns<T>(
  items: Iterable<T>,
  size: number,
  isSo: (item: T) => boolean,
): Promise<number> {
  let count = 0
  for await (const piece of inTurns(items, size)) count += piece.filter(isSo).length
  return count
}

/** Map a long list, `size` items at a time with a turn of the event loop between. */
export async function mapInTurns<T, Result>(
  items: Iterable<T>,
  size: number,
  map: (item: T) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  for await (const piece of inTurns(items, size)) for (const item of piece) results.push(map(item))
  return results
}

/** Sort a long list, `size` items at a time with a turn of the event loop between. Equal items keep their order. */
export async function sortInTurns<T>(
  items: Iterable<T>,
  size: number,
  compare: (a: T, b: T) => number,
): Promise<T[]> {
  let runs: T[][] = []
  for await (const piece of inTurns(items, size)) runs.push([...piece].sort(compare))
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let at = 0; at < runs.length; at += 2)
      merged.push(
        at + 1 < runs.length ? await mergeInTurns(runs[at]!, runs[at + 1]!, size, compare) : runs[at]!,
      )
    runs = merged
  }
  return runs[0] ?? []
}

async function mergeInTurns<T>(
  left: readonly T[],
  right: readonly T[],
  size: number,
  compare: (a: T, b: T) => number,
): Promise<T[]> {
  const merged: T[] = []
  let [l, r] = [0, 0]
  while (l < left.length || r < right.length) {
    const isLeft = r === right.length || (l < left.length && compare(left[l]!, right[r]!) <= 0)
    merged.push(isLeft ? left[l++]! : right[r++]!)
    if (merged.length % size === 0) await nextTurn()
  }
  return merged
}
