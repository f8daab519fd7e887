/** The rows of a list that were read so far, newest first, and the address of its next page; null where it ends. */
export interface Page<Row> {
  rows: readonly Row[]
  next: string | null
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
  if (!isFirst) return { rows: [...rest, ...page.rows], next: page.next }
  const isApart = page.next === null || rest.length === known.rows.length
  return isApart ? page : { rows: [...page.rows, ...rest], next: known.next }
}
