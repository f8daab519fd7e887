/** How many are kept of an order, and the order. */
export interface First<T> {
  most: number
  compare(a: T, b: T): number
}

/** Keep the first few of an order, of those that come one after the other; what is equal stays as it came. */
export function keepFirst<T>(first: T[], one: T, { most, compare }: First<T>): void {
  const last = first.at(-1)
  if (first.length === most && last !== undefined && compare(one, last) >= 0) return
  const at = first.findIndex((than) => compare(one, than) < 0)
  first.splice(at < 0 ? first.length : at, 0, one)
  first.length = Math.min(first.length, most)
}
