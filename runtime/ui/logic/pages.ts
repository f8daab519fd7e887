/** Some of a list, newest first, and where its next page is; null where it ends. */
export interface Page<Row> {
  rows: readonly Row[]
  next: string | null
}

/**
 * What is known with one page more. The first page anew takes the place of what it holds; where it holds nothing of
 * what is known, too much has happened between the two, and it stands alone.
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
