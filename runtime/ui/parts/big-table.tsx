import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'

export interface Column<Row> {
  id: string
  title: string
  /** CSS width; without one the column shares what is left. */
  width?: string
  isNumeric?: boolean
  render: (row: Row) => ComponentChildren
}

/** A row, or the heading of the rows after it. */
export type TableLine<Row> =
  | { kind: 'row'; key: string; row: Row }
  | { kind: 'group'; key: string; title: string }

interface BigTableProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  lines: readonly TableLine<Row>[]
  rowHeight: number
  sort: string
  isDescending: boolean
  onSort: (column: string) => void
}

const OVERSCAN = 8

/** The lines that are in sight, of however many there are. */
function useVisibleRange(count: number, rowHeight: number) {
  const body = useRef<HTMLTableSectionElement>(null)
  const range = useSignal({ first: 0, last: 40 })
  useEffect(() => {
    let frame = 0
    const measure = () => {
      frame = 0
      const top = body.current?.getBoundingClientRect().top ?? 0
      const first = Math.max(0, Math.floor(-top / rowHeight) - OVERSCAN)
      const last = Math.min(count, first + Math.ceil(window.innerHeight / rowHeight) + 2 * OVERSCAN)
      const now = range.peek()
      if (now.first !== first || now.last !== last) range.value = { first, last }
    }
    const onScroll = () => {
      if (frame === 0) frame = requestAnimationFrame(measure)
    }
    measure()
    window.addEventListener('scroll', onScroll, { passive: true })
    window.addEventListener('resize', onScroll)
    return () => {
      cancelAnimationFrame(frame)
      window.removeEventListener('scroll', onScroll)
      window.removeEventListener('resize', onScroll)
    }
  }, [count, rowHeight, range])
  return { body, first: Math.min(range.value.first, count), last: Math.min(range.value.last, count) }
}

/** Up and Down move between the rows' links, through rows that are not drawn as well. */
function moveFocus(event: KeyboardEvent, rowHeight: number) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const row = (event.target as Element).closest?.('tr[aria-rowindex]')
  if (step === undefined || !row || !(event.target instanceof HTMLAnchorElement)) return
  event.preventDefault()
  const wanted = Number(row.getAttribute('aria-rowindex')) + step
  const table = row.closest('table')
  const focus = () =>
    table?.querySelector<HTMLAnchorElement>(`tr[aria-rowindex="${wanted}"] a`)?.focus({ preventScroll: true })
  const box = row.getBoundingClientRect()
  if (box.bottom + rowHeight * 2 > window.innerHeight || box.top < rowHeight * 2)
    window.scrollBy(0, step * rowHeight)
  focus()
}

function Headings<Row>({ columns, sort, isDescending, onSort }: BigTableProps<Row>) {
  const words = say(commonTexts)
  const direction = isDescending ? 'descending' : 'ascending'
  return (
    <tr aria-rowindex={1}>
      {columns.map(({ id, title, isNumeric }) => (
        <th key={id} scope="col" class={isNumeric ? 'n' : ''} aria-sort={sort === id ? direction : undefined}>
          <button type="button" title={words.sortBy(title)} onClick={() => onSort(id)}>
            {title}
            {sort === id && <span aria-hidden="true">{isDescending ? ' ↓' : ' ↑'}</span>}
          </button>
        </th>
      ))}
    </tr>
  )
}

/** In the place of rows that are not drawn. */
const Spacer = ({ columns, height }: { columns: number; height: number }) =>
  height > 0 ? (
    <tr class="spacer">
      <td colSpan={columns} style={{ height: `${height}px` }} />
    </tr>
  ) : null

/** One row, or the heading of a group of rows; `index` counts all of the table, the headings included. */
function DrawnLine<Row>({
  line,
  index,
  columns,
  rowHeight,
}: Pick<BigTableProps<Row>, 'columns' | 'rowHeight'> & { line: TableLine<Row>; index: number }) {
  const style = { height: `${rowHeight}px` }
  if (line.kind === 'group')
    return (
      <tr class="group" aria-rowindex={index} style={style}>
        <th scope="rowgroup" colSpan={columns.length}>
          {line.title}
        </th>
      </tr>
    )
  return (
    <tr aria-rowindex={index} style={style}>
      {columns.map(({ id, isNumeric, render }) => (
        <td key={id} class={isNumeric ? 'n' : ''} style={style}>
          {render(line.row)}
        </td>
      ))}
    </tr>
  )
}

/** A table that draws only what is in sight, so that fifteen thousand rows scroll without effort. */
export function BigTable<Row>(props: BigTableProps<Row>) {
  const { columns, lines, rowHeight } = props
  const { body, first, last } = useVisibleRange(lines.length, rowHeight)
  return (
    <div class="sheet big-table">
      <table
        aria-label={props.label}
        aria-rowcount={lines.length + 1}
        onKeyDown={(event) => moveFocus(event, rowHeight)}
      >
        <colgroup>
          {columns.map(({ id, width }) => (
            <col key={id} style={width ? { width } : {}} />
          ))}
        </colgroup>
        <thead>
          <Headings {...props} />
        </thead>
        <tbody ref={body}>
          <Spacer columns={columns.length} height={first * rowHeight} />
          {lines.slice(first, last).map((line, at) => (
            <DrawnLine
              key={line.key}
              line={line}
              index={first + at + 2}
              columns={columns}
              rowHeight={rowHeight}
            />
          ))}
          <Spacer columns={columns.length} height={(lines.length - last) * rowHeight} />
        </tbody>
      </table>
    </div>
  )
}
