/** The rows of a list that were read so far, newest first. */
export interface Page<Row> {
  rows: readonly Row[]
  /** The address of the next page; null where the list ends. */
  next: string | null
  /** How many rows of each page, the first one first, are not in it because they lie outside of the reader's scope. */
  outside: readonly number[]
}

/**
 * Join a page with the rows that are known. A later page is added at the end. The first page, fetched again, replaces
 * the rows that it holds; where it holds none of them, rows may be missing in between, and it stands alone.
 */
export function joinPage<Row>(
  known: Page<Row>,
  isFirst: boolean,
  page: Page<Row>,
  idOf: (row: Row) => string,
): Page<Row> {
  const fresh = new Set(page.rows.map(idOf))
  const rest = known.rows.filter((row) => !fresh.has(idOf(row)))
  if (!isFirst)
    return { rows: [...rest, ...page.rows], next: page.next, outside: [...known.outside, ...page.outside] }
  const isApart = page.next === null || rest.length === known.rows.length
  if (isApart) return page
  return {
    rows: [...page.rows, ...rest],
    next: known.next,
    outside: [...page.outside, ...known.outside.slice(page.outside.length)],
  }
}

/** The most rows that a list is read of which is not turned page by page; it may have more. */
export const LISTED_MAX = 200
