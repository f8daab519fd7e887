import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { Action } from './controls.tsx'

const STEP = 200
/**
 * Let a cell stand below all columns of its table. One over more than there are would give a table of fixed widths as many,
 * and those without a width would share what is left.
 */
function spanTable(cell: HTMLTableCellElement | null): void {
  const heading = cell?.closest('table')?.tHead?.rows[0]
  if (cell && heading) cell.colSpan = heading.cells.length
}

/**
 * The first rows of a table that may be long, and a row that shows more of them: nobody reads ten thousand rows, and
 * drawing them at once holds the page.
 */
export function Capped<Row>({
  rows,
  first = STEP,
  children,
}: {
  rows: readonly Row[]
  /** How many are shown before more are asked for. */
  first?: number
  children: (row: Row) => ComponentChildren
}) {
  const limit = useSignal(first)
  const words = say(commonTexts)
  return (
    <>
      {rows.slice(0, limit.value).map(children)}
      {rows.length > limit.value && (
        <tr>
          <td ref={(cell) => spanTable(cell)}>
            <span class="actions">
              <span class="muted">{words.firstOf(limit.value, rows.length)}</span>
              <Action
                kind="plain"
                onClick={() => {
                  limit.value += STEP
                }}
              >
                {words.showMore}
              </Action>
            </span>
          </td>
        </tr>
      )}
    </>
  )
}
