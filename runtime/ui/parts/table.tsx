import type { ComponentChildren } from 'preact'
import { Capped } from './capped.tsx'
import { Sheet } from './page.tsx'

/** One column of a table: its heading, and what each row shows under it. */
export interface TableColumn<Row> {
  title: ComponentChildren
  /** The heading is said to screen readers and not shown. */
  isTitleHidden?: boolean
  /**
   * What stands before its cells on a narrow page, where there are no headings and the cell alone says too little. A
   * column of numbers has its heading there.
   */
  narrowTitle?: string
  /** How the rows are sorted by it, where they are. */
  sort?: 'ascending' | 'descending' | undefined
  /**
   * The classes of its cells: `n` for numbers, `text` for what may wrap, `muted`, `mono`, `name`, `id` for what half a desk has no
   * room for, `told` for what is told in a sentence or two.
   */
  look?: string
  cell: (row: Row) => ComponentChildren
}

/** The class of a heading: that of numbers stands right, and one that may give way does so with its cells. */
const headLook = (look = ''): string | undefined =>
  look === 'n' ? 'n' : look.split(' ').includes('id') ? 'id' : undefined

/**
 * A table of modest length, from its columns and rows; a long one shows its first rows and how to see more. On a narrow
 * page each row becomes a few lines instead of scrolling sideways.
 */
export function Table<Row>({
  label,
  columns,
  rows,
  first,
  keyOf,
}: {
  label: string
  columns: readonly TableColumn<Row>[]
  rows: readonly Row[]
  /** How many are shown before more are asked for, where that is fewer than of any table. */
  first?: number
  keyOf: (row: Row) => string | number
}) {
  const head = columns.map(({ title, isTitleHidden, sort, look }, at) => (
    <th key={at} scope="col" class={headLook(look)} aria-sort={sort}>
      {isTitleHidden ? <span class="sr">{title}</span> : title}
    </th>
  ))
  return (
    <Sheet isStacked label={label} head={head}>
      <Capped rows={rows} {...(first === undefined ? {} : { first })}>
        {(row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ look, title, narrowTitle, cell }, at) => (
              <td
                key={at}
                class={look}
                data-label={narrowTitle ?? (look === 'n' && typeof title === 'string' ? title : undefined)}
              >
                {cell(row)}
              </td>
            ))}
          </tr>
        )}
      </Capped>
    </Sheet>
  )
}
