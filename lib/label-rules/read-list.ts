import { type Fault, type FaultCode, faultOf, faultWithin } from '../model/faults.ts'
import { TRUSTED_PREFIX } from '../model/labels.ts'
import { IDENTITY_KEYS, IDENTITY_PREFIX } from '../selectors/keys.ts'
import { refuseLabels } from '../selectors/read-selector.ts'

/** Labels by the value of one identity key. */
export interface LabelList {
  /** The identity key, without its prefix. */
  key: string
  /** The columns of labels. */
  columns: readonly string[]
  labels: ReadonlyMap<string, Readonly<Record<string, string>>>
}

/** Lines that a list can have below its heading. */
export const LIST_LINES_MAX = 20_000
/** Longest list, in UTF-16 units. */
export const LIST_LENGTH_MAX = 1_048_576
const COLUMNS_MAX = 20
const CELL_LENGTH_MAX = 256

type Read<T> = { ok: true; value: T } | { ok: false; fault: Fault }
type Faulty = Extract<Read<never>, { ok: false }>
const fault = (why: FaultCode, fields: Parameters<typeof faultOf>[1] = {}): Faulty => ({
  ok: false,
  fault: faultOf(why, fields),
})
const atLine = (line: number, { fault }: Faulty): Faulty => ({
  ok: false,
  fault: faultWithin('line', fault, { line }),
})

/**
 * Read a list of hosts in CSV (RFC 4180): the first line names an identity key and then labels, each other line a host
 * and its labels. An empty cell sets no label. A faulty line is refused with its number.
 */
export function readLabelList(text: string): Read<LabelList> {
  if (text.length > LIST_LENGTH_MAX) return fault('list_too_long', { max: LIST_LENGTH_MAX })
  const rows = readCsv(text.replace(/^\ufeff/, ''))
  if (!rows.ok) return rows
  const [heading, ...lines] = rows.value
  if (heading === undefined || lines.length === 0) return fault('list_empty')
  if (lines.length > LIST_LINES_MAX) return fault('list_lines_too_many', { max: LIST_LINES_MAX })
  const head = readHeading(heading.cells)
  if (!head.ok) return head
  const { key, columns } = head.value
  const labels = new Map<string, Record<string, string>>()
  for (const { cells, line } of lines) {
    const read = readLine(cells, columns)
    if (!read.ok) return atLine(line, read)
    const { name, given } = read.value
    if (labels.has(name)) return atLine(line, fault('name_twice', { name }))
    labels.set(name, given)
  }
  return { ok: true, value: { key, columns, labels } }
}

const bare = (name: string, prefix: string): string =>
  name.startsWith(prefix) ? name.slice(prefix.length) : name

function readHeading(cells: readonly string[]): Read<{ key: string; columns: string[] }> {
  const key = bare(cells[0]!.trim(), IDENTITY_PREFIX)
  if (!(IDENTITY_KEYS as readonly string[]).includes(key))
    return fault('first_column_unknown', { keys: IDENTITY_KEYS.join(', ') })
  const columns = cells.slice(1).map((cell) => bare(cell.trim(), TRUSTED_PREFIX))
  if (columns.length === 0 || columns.length > COLUMNS_MAX)
    return fault('columns_miscounted', { max: COLUMNS_MAX })
  if (new Set(columns).size < columns.length) return fault('column_twice')
  if (refuseLabels(Object.fromEntries(columns.map((column) => [column, 'x']))) !== null)
    return fault('column_not_label')
  return { ok: true, value: { key, columns } }
}

function readLine(
  cells: readonly string[],
  columns: readonly string[],
): Read<{ name: string; given: Record<string, string> }> {
  if (cells.length !== columns.length + 1)
    return fault('cells_miscounted', { count: cells.length, expected: columns.length + 1 })
  const name = cells[0]!.trim()
  if (name === '' || name.length > CELL_LENGTH_MAX) return fault('first_cell_empty')
  const given: Record<string, string> = {}
  columns.forEach((column, index) => {
    const value = cells[index + 1]!.trim()
    if (value !== '') given[column] = value
  })
  return refuseLabels(given) === null ? { ok: true, value: { name, given } } : fault('label_unreadable')
}

const COMMAS = () => /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|\n|\r|$)/y
const SEMICOLONS = () => /("(?:[^"]|"")*"|[^";\r\n]*)(;|\r\n|\n|\r|$)/y

/** Split CSV into rows, each with the line that it begins on; empty lines are left out. */
function readCsv(text: string): Read<{ cells: string[]; line: number }[]> {
  const rows: { cells: string[]; line: number }[] = []
  // In languages that write decimals with a comma, spreadsheets separate cells by semicolons.
  const first = /^[^\r\n]*/.exec(text)?.[0] ?? ''
  const cell = first.includes(';') && !first.includes(',') ? SEMICOLONS() : COMMAS()
  let row: string[] = []
  let line = 1
  let begins = 1
  while (cell.lastIndex < text.length || row.length > 0) {
    const match = cell.exec(text)
    if (match === null) return atLine(line, fault('quote_misplaced'))
    const [, raw, end] = match as unknown as [string, string, string]
    row.push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw)
    line += raw.split('\n').length - 1
    if (end === ',' || end === ';') {
      if (row.length > COLUMNS_MAX + 1)
        return atLine(begins, fault('cells_too_many', { max: COLUMNS_MAX + 1 }))
      continue
    }
    // An empty line is no row.
    if (row.length > 1 || row[0]!.trim() !== '') rows.push({ cells: row, line: begins })
    if (rows.length > LIST_LINES_MAX + 1) return fault('list_lines_too_many', { max: LIST_LINES_MAX })
    row = []
    if (end !== '') line++
    begins = line
  }
  return { ok: true, value: rows }
}
