/** The sort key of the last row of a page, the id last; times in milliseconds. */
export type CursorKey = readonly (string | number)[]

/** A page to fetch: the rows after `after` in the list's order, `limit` at most. */
export interface Page {
  after: CursorKey | null
  limit: number
}

/** An opaque cursor. `order` names the list and its order, so that no cursor fits another list. */
export function encodeCursor(order: string, key: CursorKey): string {
  return Buffer.from(JSON.stringify([order, ...key])).toString('base64url')
}

/** The key in a cursor, or null when it is not one of this order with as many parts as `shape` has types. */
export function decodeCursor(
  order: string,
  shape: readonly ('string' | 'number')[],
  text: string,
): CursorKey | null {
  let parts: unknown
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    return null
  }
  if (!Array.isArray(parts) || parts.length !== shape.length + 1 || parts[0] !== order) return null
  const key: unknown[] = parts.slice(1)
  const fits = key.every((part, index) => typeof part === shape[index] && isPlain(part))
  return fits ? (key as (string | number)[]) : null
}

// PostgreSQL refuses U+0000, and times beyond what a Date holds cannot be asked for.
const isPlain = (part: unknown): boolean =>
  typeof part === 'string' ? !part.includes('\0') : Math.abs(part as number) <= 8.64e15
