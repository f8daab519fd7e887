import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { type Ticked, tickedOf } from '../logic/selection.ts'

/** One column of a BigTable. */
export interface Column<Row> {
  id: string
  title: string
  /** CSS width; without one the column shares what is left. */
  width?: string
  isNumeric?: boolean
  /** The rows have no order by it, since it is known of those in sight only. */
  isUnordered?: boolean
  render: (row: Row) => ComponentChildren
}

/** A row, or the heading of the rows after it. */
export type TableLine<Row> =
  | { kind: 'row'; key: string; row: Row }
  | {
      kind: 'group'
      key: string
      title: string
      /** Whether its rows are among the lines. */
      isOpen: boolean
      /** The keys of all its rows. */
      members: readonly string[]
    }

/** Rows that somebody ticks. */
export interface RowSelection<Row> {
  ticked: ReadonlySet<string>
  /** The keys of all rows, those in closed groups included. */
  keys: readonly string[]
  /** Tick one row; with `isRange` all rows from the last one that was ticked. */
  onTick: (key: string, isTicked: boolean, isRange: boolean) => void
  onTickAll: (keys: readonly string[], isTicked: boolean) => void
  nameOf: (row: Row) => string
}

interface BigTableProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  lines: readonly TableLine<Row>[]
  /** How high a line is in px, its rule included. The same function as long as it answers the same. */
  heightOf: (line: TableLine<Row>) => number
  sort: string
  isDescending: boolean
  onSort: (column: string) => void
  selection: RowSelection<Row>
  /** Open or close a group. */
  onGroup: (key: string) => void
}

/** The width in pixels of the column of boxes, which the style sheet sets. */
export const TICKS_WIDTH = 36

const OVERSCAN = 8

/** Where each line begins, in px from the first one, and behind the last one where all end. */
function useTops<Row>({ lines, heightOf }: Pick<BigTableProps<Row>, 'lines' | 'heightOf'>): Float64Array {
  return useMemo(() => {
    const tops = new Float64Array(lines.length + 1)
    lines.forEach((line, at) => {
      tops[at + 1] = tops[at]! + heightOf(line)
    })
    return tops
  }, [lines, heightOf])
}

/** The line at so many px from the first one's top. */
function lineAt(tops: Float64Array, px: number): number {
  let low = 0
  let high = tops.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (tops[middle]! <= px) low = middle
    else high = middle - 1
  }
  return low
}

/** The lines that are in sight, of however many there are. */
function useVisibleRange(tops: Float64Array) {
  const count = tops.length - 1
  const body = useRef<HTMLTableSectionElement>(null)
  const range = useSignal({ first: 0, last: 40 })
  useEffect(() => {
    let frame = 0
    const measure = () => {
      frame = 0
      const top = body.current?.getBoundingClientRect().top ?? 0
      const first = Math.max(0, lineAt(tops, -top) - OVERSCAN)
      const last = Math.min(count, lineAt(tops, window.innerHeight - top) + 1 + OVERSCAN)
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
  }, [tops, count, range])
  return { body, first: Math.min(range.value.first, count), last: Math.min(range.value.last, count) }
}

/** Up and Down move between the rows' links, or their boxes, through rows that are not drawn as well. */
function moveFocus(event: KeyboardEvent) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const { target } = event
  const row = (target as Element).closest?.('tr[aria-rowindex]')
  const isBox = target instanceof HTMLInputElement
  if (step === undefined || !row || !(isBox || (target as Element).matches('a, .fold'))) return
  event.preventDefault()
  const wanted = Number(row.getAttribute('aria-rowindex')) + step
  const table = row.closest('table')
  const box = row.getBoundingClientRect()
  if (box.bottom + box.height * 2 > window.innerHeight || box.top < box.height * 2)
    window.scrollBy(0, step * box.height)
  const next = table?.querySelector<HTMLElement>(
    `tbody tr[aria-rowindex="${wanted}"] :is(${isBox ? 'input' : 'a, .fold'})`,
  )
  next?.focus({ preventScroll: true })
  // Clear of what stands over the rows: the headings, and the bar about what is selected.
  next?.scrollIntoView({ block: 'nearest' })
  // As in a list of files: with Shift the range grows by the row that the focus comes to.
  if (event.shiftKey && next instanceof HTMLInputElement && target instanceof HTMLInputElement)
    next.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: true }))
}

/** A box for one row or for many. With Shift it is the end of a range. */
function TickBox({
  label,
  state,
  onTick,
}: {
  label: string
  state: Ticked
  onTick: (isTicked: boolean, isRange: boolean) => void
}) {
  const box = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    if (box.current) box.current.indeterminate = state === 'some'
  }, [state])
  return (
    <label class="tick-box">
      <input
        ref={box}
        class="tick"
        type="checkbox"
        aria-label={label}
        checked={state === 'all'}
        onClick={(event) => onTick(event.currentTarget.checked, event.shiftKey)}
      />
    </label>
  )
}

function Headings<Row>({ columns, sort, isDescending, onSort, selection }: BigTableProps<Row>) {
  const words = say(commonTexts)
  const direction = isDescending ? 'descending' : 'ascending'
  const { keys } = selection
  return (
    <tr aria-rowindex={1}>
      <th scope="col" class="ticks">
        <TickBox
          label={words.selectAll(keys.length)}
          state={tickedOf(selection.ticked, keys)}
          onTick={(isTicked) => selection.onTickAll(keys, isTicked)}
        />
      </th>
      {columns.map(({ id, title, isNumeric, isUnordered }) => (
        <th key={id} scope="col" class={isNumeric ? 'n' : ''} aria-sort={sort === id ? direction : undefined}>
          {isUnordered ? (
            title
          ) : (
            <button type="button" title={words.sortBy(title)} onClick={() => onSort(id)}>
              {title}
              {sort === id && <span aria-hidden="true">{isDescending ? ' ↓' : ' ↑'}</span>}
            </button>
          )}
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

type Drawn<Row> = Pick<BigTableProps<Row>, 'columns' | 'selection' | 'onGroup'> & {
  /** In px. */
  height: number
  /** The line's number in the whole table, headings of groups included. */
  index: number
}

/** The heading of a group of rows, which opens and closes it. */
function GroupLine<Row>({
  line: { key, title, isOpen, members },
  index,
  height,
  columns,
  selection,
  onGroup,
}: Drawn<Row> & { line: Extract<TableLine<Row>, { kind: 'group' }> }) {
  return (
    <tr class="group" aria-rowindex={index} style={{ height: `${height}px` }}>
      <td class="ticks">
        <TickBox
          label={say(commonTexts).select(title)}
          state={tickedOf(selection.ticked, members)}
          onTick={(isTicked) => selection.onTickAll(members, isTicked)}
        />
      </td>
      <th scope="rowgroup" colSpan={columns.length}>
        <button type="button" class="fold" aria-expanded={isOpen} onClick={() => onGroup(key)}>
          <span aria-hidden="true">{isOpen ? '▾ ' : '▸ '}</span>
          {title}
        </button>
      </th>
    </tr>
  )
}

function RowLine<Row>({
  line: { key, row },
  index,
  height,
  columns,
  selection,
}: Drawn<Row> & { line: Extract<TableLine<Row>, { kind: 'row' }> }) {
  const style = { height: `${height}px` }
  const isTicked = selection.ticked.has(key)
  return (
    <tr aria-rowindex={index} class={isTicked ? 'ticked' : ''} style={style}>
      <td class="ticks" style={style}>
        <TickBox
          label={say(commonTexts).select(selection.nameOf(row))}
          state={isTicked ? 'all' : 'none'}
          onTick={(wanted, isRange) => selection.onTick(key, wanted, isRange)}
        />
      </td>
      {columns.map(({ id, isNumeric, render }) => (
        <td key={id} class={isNumeric ? 'n' : ''} style={style}>
          {render(row)}
        </td>
      ))}
    </tr>
  )
}

/** A table that draws only what is in sight, so that fifteen thousand rows scroll without effort. */
export function BigTable<Row>(props: BigTableProps<Row>) {
  const { columns, lines } = props
  const tops = useTops(props)
  const { body, first, last } = useVisibleRange(tops)
  const drawn = (at: number) => ({
    ...props,
    index: first + at + 2,
    height: tops[first + at + 1]! - tops[first + at]!,
  })
  return (
    <div class="sheet big-table">
      <table aria-label={props.label} aria-rowcount={lines.length + 1} onKeyDown={moveFocus}>
        <colgroup>
          <col class="tick-col" />
          {columns.map(({ id, width }) => (
            <col key={id} style={width ? { width } : {}} />
          ))}
        </colgroup>
        <thead>
          <Headings {...props} />
        </thead>
        <tbody ref={body}>
          <Spacer columns={columns.length + 1} height={tops[first]!} />
          {lines
            .slice(first, last)
            .map((line, at) =>
              line.kind === 'group' ? (
                <GroupLine key={line.key} {...drawn(at)} line={line} />
              ) : (
                <RowLine key={line.key} {...drawn(at)} line={line} />
              ),
            )}
          <Spacer columns={columns.length + 1} height={tops[lines.length]! - tops[last]!} />
        </tbody>
      </table>
    </div>
  )
}
