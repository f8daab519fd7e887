import type { EvidenceItem, FactValue } from '../wire/reports.ts'
import { ACCENT, BLACK, GREY, LINE, PAGE, type PdfCanvas, type TextStyle, WHITE } from './pdf-canvas.ts'
import { toPdfText } from './pdf-glyphs.ts'
import { sortedFacts, visibleText } from './text-values.ts'

/** A piece of text on a line, `x` from the cell's left edge. */
interface Piece {
  x: number
  text: string
  style: TextStyle
}
type Line = readonly Piece[]

const WIDTH = PAGE.width - 2 * PAGE.margin
const COLUMNS = [
  { title: 'Item', x: 0, width: 158 },
  { title: 'Facts', x: 166, width: 270 },
  { title: 'Observed', x: 444, width: WIDTH - 444 },
] as const
const LINE_HEIGHT = 8.4
const ROW_PADDING = 4
const HEAD_HEIGHT = 14
/** Where tables end, above the footer. */
const BOTTOM = PAGE.height - PAGE.margin - 14

const SUMMARY: TextStyle = { font: 'bold', size: 7.5, color: BLACK }
const SMALL: TextStyle = { font: 'mono', size: 5.2, color: GREY }
const KEY: TextStyle = { font: 'regular', size: 6.4, color: GREY }
const VALUE: TextStyle = { font: 'regular', size: 6.8, color: BLACK }
const HASH_VALUE: TextStyle = { font: 'mono', size: 5.4, color: BLACK }
const GAP = 3

/** What the fonts can draw of a text, on one line. */
export const toDrawable = (text: string): string => toPdfText(visibleText(text)).text

const IS_HASH = /^[0-9a-f]{32,64}$/
const IS_ASCII = /^[\x20-\x7e]*$/

/** A place on the pages: the table writes at `y` and goes on to new pages. */
export interface Cursor {
  y: number
  /** Start a new page and return where its body begins. */
  newPage(): number
}

function wrapped(canvas: PdfCanvas, text: string, style: TextStyle, width: number): Line[] {
  const { font, size } = style
  return canvas.wrap(text, font, size, width).map((line) => [{ x: 0, text: line, style }])
}

/** An id or hash in the small mono font, where that font has all its characters. */
function wrappedId(canvas: PdfCanvas, text: string, width: number): Line[] {
  const style: TextStyle = IS_ASCII.test(text) ? SMALL : { ...KEY, size: 5.6 }
  return wrapped(canvas, text, style, width)
}

function itemLines(canvas: PdfCanvas, item: EvidenceItem): Line[] {
  const { width } = COLUMNS[0]
  const lines = wrapped(canvas, toDrawable(item.summary), SUMMARY, width)
  lines.push(...wrappedId(canvas, toDrawable(item.id), width))
  // Most item ids contain the resource id; it is not repeated then, to keep a long report shorter.
  const resource = item.id.includes(item.resource_id) ? item.resource : `${item.resource} ${item.resource_id}`
  lines.push(...wrappedId(canvas, toDrawable(resource), width))
  if (item.content_hash !== undefined) {
    const hash = item.content_hash === item.resource_id ? '= resource id' : toDrawable(item.content_hash)
    lines.push(...wrappedId(canvas, `content_hash ${hash}`, width))
  }
  return lines
}

/** Two short facts share a line; a long one has lines of its own, indented below its value. */
function factLines(canvas: PdfCanvas, facts: Record<string, FactValue>): Line[] {
  const { width } = COLUMNS[1]
  const half = width / 2
  const lines: Line[] = []
  let open: Piece[] | null = null
  for (const [key, raw] of sortedFacts(facts)) {
    const drawnKey = toDrawable(key)
    const value = raw === '' ? '–' : toDrawable(raw)
    const style = IS_HASH.test(value) ? HASH_VALUE : VALUE
    const keyWidth = canvas.width(drawnKey, KEY.font, KEY.size) + GAP
    const valueWidth = canvas.width(value, style.font, style.size)
    if (keyWidth + valueWidth <= half - GAP) {
      const x: number = open === null ? 0 : half
      const pieces: Piece[] = [
        { x, text: drawnKey, style: KEY },
        { x: x + keyWidth, text: value, style },
      ]
      if (open !== null) {
        open.push(...pieces)
        open = null
      } else {
        open = pieces
        lines.push(open)
      }
      continue
    }
    open = null
    const indent = Math.min(keyWidth, half)
    const broken = canvas.wrap(value, style.font, style.size, width - indent)
    lines.push([
      { x: 0, text: drawnKey, style: KEY },
      { x: indent, text: broken[0]!, style },
    ])
    for (const more of broken.slice(1)) lines.push([{ x: indent, text: more, style }])
  }
  return lines
}

function observedLines(canvas: PdfCanvas, item: EvidenceItem): Line[] {
  const { width } = COLUMNS[2]
  const lines: Line[] = []
  if (item.observed_at !== undefined) {
    const [day = '', time = ''] = item.observed_at.split('T')
    lines.push(
      [{ x: 0, text: toDrawable(day), style: VALUE }],
      [{ x: 0, text: toDrawable(time), style: KEY }],
    )
  }
  if (item.severity !== undefined)
    lines.push(...wrapped(canvas, toDrawable(item.severity), { ...VALUE, font: 'bold' }, width))
  if (item.redacted) lines.push([{ x: 0, text: 'redacted', style: { ...KEY, color: ACCENT } }])
  return lines
}

function drawHead(canvas: PdfCanvas, y: number): number {
  canvas.rectangle(PAGE.margin, y, WIDTH, HEAD_HEIGHT, ACCENT)
  for (const { title, x } of COLUMNS)
    canvas.text(PAGE.margin + x + ROW_PADDING, y + 9.5, title, { font: 'bold', size: 7, color: WHITE })
  return y + HEAD_HEIGHT
}

/** Draw a row and move the cursor below it; a row that is higher than a page goes on over the next pages. */
function drawRow(canvas: PdfCanvas, cells: readonly (readonly Line[])[], cursor: Cursor): void {
  const count = Math.max(...cells.map(({ length }) => length))
  const heightOf = (lines: number) => lines * LINE_HEIGHT + 2 * ROW_PADDING
  let drawn = 0
  while (drawn < count) {
    const room = Math.floor((BOTTOM - cursor.y - 2 * ROW_PADDING) / LINE_HEIGHT)
    const fitsOnFreshPage = heightOf(count - drawn) <= BOTTOM - 2 * PAGE.margin - HEAD_HEIGHT
    if (room < count - drawn && (fitsOnFreshPage || room < 4)) {
      cursor.y = drawHead(canvas, cursor.newPage())
      continue
    }
    const lines = Math.min(room, count - drawn)
    cells.forEach((cell, index) => {
      const left = PAGE.margin + COLUMNS[index]!.x + ROW_PADDING
      cell.slice(drawn, drawn + lines).forEach((line, row) => {
        const baseline = cursor.y + ROW_PADDING + (row + 1) * LINE_HEIGHT - 2
        for (const { x, text, style } of line) canvas.text(left + x, baseline, text, style)
      })
    })
    cursor.y += heightOf(lines)
    drawn += lines
    canvas.rule(PAGE.margin, cursor.y, WIDTH, LINE)
  }
}

/** Draw a section's items as a table whose head is repeated on every page. */
export function drawItems(canvas: PdfCanvas, items: readonly EvidenceItem[], cursor: Cursor): void {
  cursor.y = drawHead(canvas, cursor.y)
  for (const item of items) {
    const cells = [itemLines(canvas, item), factLines(canvas, item.facts), observedLines(canvas, item)]
    drawRow(canvas, cells, cursor)
  }
}
