import { setImmediate as immediate } from 'node:timers/promises'

/** Let agents and other requests go first. */
export const nextTurn = (): Promise<void> => immediate()

/** Cut a long list into pieces, with a turn of the event loop between two of them. */
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

/** Turn each of many things into another, a few at a time. */
export async function mapInTurns<T, Result>(
  items: Iterable<T>,
  size: number,
  map: (item: T) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  for await (const piece of inTurns(items, size)) for (const item of piece) results.push(map(item))
  return results
}
