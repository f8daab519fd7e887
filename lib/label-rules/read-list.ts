import { type Fault, type FaultCode, faultOf, faultWithin } from '../model/faults.ts'
import { TRUSTED_PREFIX } from '../model/labels.ts'
import { IDENTITY_KEYS, IDENTITY_PREFIX } from '../selectors/keys.ts'
import { refuseLabels } from '../selectors/read-selector.ts'
import { inTurns } from '../turns.ts'

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
/** Lines that are read before others get their turn; one of twenty columns takes 30 µs. */
const TURN_LINES = 200
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
 * Read a list of hosts in CSV (RFC 4180), in turns: the first line names an identity key and then labels, each other line
 * a host and its labels. An empty cell sets no label. A faulty line is refused with its number.
 */
export async function readLabelList(text: string): Promise<Read<LabelList>> {
  if (text.length > LIST_LENGTH_MAX) return fault('list_too_long', { max: LIST_LENGTH_MAX })
  let head: { key: string; columns: string[] } | null = null
  const labels = new Map<string, Record<string, string>>()
  for await (const rows of inTurns(readCsv(text.replace(/^\ufeff/, '')), TURN_LINES))
    for (const row of rows) {
      if ('ok' in row) return row
      if (head === null) {
        const read = readHeading(row.cells)
        if (!read.ok) return read
        head = read.value
        continue
      }
      const { cells, line } = row
      if (labels.size === LIST_LINES_MAX) return fault('list_lines_too_many', { max: LIST_LINES_MAX })
      const read = readLine(cells, head.columns)
      if (!read.ok) return atLine(line, read)
      const { name, given } = read.value
      if (labels.has(name)) return atLine(line, fault('name_twice', { name }))
      labels.set(name, given)
    }
  if (head === null || labels.size === 0) return fault('list_empty')
  return { ok: true, value: { ...head, labels } }
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

/** A row, with the line that it begins on. */
interface Row {
  cells: string[]
  line: number
}

/** Split CSV into rows, of which empty lines are none. A fault is the last that comes. */
function* readCsv(text: string): Generator<Row | Faulty, void> {
  // In languages that write decimals with a comma, spreadsheets separate cells by semicolons.
  const first = /^[^\r\n]*/.exec(text)?.[0] ?? ''
  const cell = first.includes(';') && !first.includes(',') ? SEMICOLONS() : COMMAS()
  let row: string[] = []
  let line = 1
  let begins = 1
  while (cell.lastIndex < text.length || row.length > 0) {
    const match = cell.exec(text)
    if (match === null) return yield atLine(line, fault('quote_misplaced'))
    const [, raw, end] = match as unknown as [string, string, string]
    row.push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw)
    line += raw.split('\n').length - 1
    if (end === ',' || end === ';') {
      if (row.length > COLUMNS_MAX + 1)
        return yield atLine(begins, fault('cells_too_many', { max: COLUMNS_MAX + 1 }))
      continue
    }
    if (row.length > 1 || row[0]!.trim() !== '') yield { cells: row, line: begins }
    row = []
    if (end !== '') line++
    begins = line
  }
}
