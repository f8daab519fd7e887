/** How many of some rows are ticked. */
export type Ticked = 'none' | 'some' | 'all'

/** How many of these keys are ticked. */
export function tickedOf(ticked: ReadonlySet<string>, keys: readonly string[]): Ticked {
  let count = 0
  for (const key of keys) if (ticked.has(key)) count++
  return count === 0 ? 'none' : count === keys.length ? 'all' : 'some'
}

/** The ticked keys with these added, or taken out. */
export function withTicked(
  ticked: ReadonlySet<string>,
  keys: readonly string[],
  isTicked: boolean,
): ReadonlySet<string> {
  const next = new Set(ticked)
  for (const key of keys) {
    if (isTicked) next.add(key)
    else next.delete(key)
  }
  return next
}

/** All keys from one row to another, in the order of the rows; `to` alone where `from` is not among them. */
export function keysBetween(order: readonly string[], from: string | null, to: string): readonly string[] {
  const last = order.indexOf(to)
  const first = from === null ? -1 : order.indexOf(from)
  if (first === -1 || last === -1) return [to]
  return order.slice(Math.min(first, last), Math.max(first, last) + 1)
}

/** Cut a list into pieces that one call can take. */
export function inPieces<T>(items: readonly T[], size: number): (readonly T[])[] {
  const pieces: (readonly T[])[] = []
  for (let at = 0; at < items.length; at += size) pieces.push(items.slice(at, at + size))
  return pieces
}
