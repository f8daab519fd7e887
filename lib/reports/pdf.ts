import type { EvidencePack } from '../wire/reports.ts'
import { ACCENT, BLACK, GREY, LINE, PAGE, PdfCanvas, type TextStyle } from './pdf-canvas.ts'
import { type Cursor, drawItems, toDrawable } from './pdf-table.ts'
import { nameInItem, type People } from './people.ts'
import { summarize } from './summary.ts'
import { factText } from './text-values.ts'

const WIDTH = PAGE.width - 2 * PAGE.margin
const BODY_TOP = PAGE.margin + 18
const BODY_BOTTOM = PAGE.height - PAGE.margin - 14
const TITLE: TextStyle = { font: 'bold', size: 26, color: ACCENT }
const HEADING: TextStyle = { font: 'bold', size: 13, color: ACCENT }
const LABEL: TextStyle = { font: 'regular', size: 8.5, color: GREY }
const TEXT: TextStyle = { font: 'regular', size: 9, color: BLACK }
const CODE: TextStyle = { font: 'mono', size: 7.5, color: BLACK }
const NOTE: TextStyle = { font: 'regular', size: 6.5, color: GREY }
const RUNNING: TextStyle = { font: 'bold', size: 8, color: GREY }
const LABEL_WIDTH = 96
const IS_CODE = /^[0-9a-f]{40,}$/

interface Entry {
  title: string
  detail: string
  page: number
}

/** Walks down the pages of one document. */
class Writer implements Cursor {
  readonly canvas: PdfCanvas
  y = BODY_TOP
  /** The heading that is repeated on top of new pages while a section goes on; empty where a new section begins. */
  #running = ''

  constructor(canvas: PdfCanvas) {
    this.canvas = canvas
  }

  newPage(): number {
    this.canvas.addPage()
    this.y = BODY_TOP
    if (this.#running !== '') this.canvas.text(PAGE.margin, PAGE.margin + 10, this.#running, RUNNING)
    return this.y
  }

  /** Start a new page unless this many points are left on the current one. */
  need(points: number): void {
    if (this.y + points > BODY_BOTTOM) this.newPage()
  }

  /** Begin a new section, on a new page unless this many points are left. */
  begin(points: number): void {
    this.#running = ''
    this.need(points)
  }

  paragraph(text: string, style: TextStyle, x = 0, leading = style.size * 1.4): void {
    for (const line of this.canvas.wrap(toDrawable(text), style.font, style.size, WIDTH - x)) {
      this.need(leading)
      this.y += leading
      this.canvas.text(PAGE.margin + x, this.y, line, style)
    }
  }

  /** A name with its value beside it. */
  pair(label: string, value: string): void {
    const style = IS_CODE.test(value) ? CODE : TEXT
    this.need(14)
    this.canvas.text(PAGE.margin, this.y + 13, toDrawable(label), LABEL)
    this.paragraph(value, style, LABEL_WIDTH, 13)
    this.y += 2
  }

  heading(text: string): number {
    this.y += 24
    this.canvas.text(PAGE.margin, this.y, toDrawable(text), HEADING)
    this.y += 8
    this.#running = `${toDrawable(text)} (continued)`
    return this.canvas.pageCount
  }
}

function describeScope({ scope }: EvidencePack): string {
  if (scope.group_id !== undefined) return `group ${scope.group_id}`
  if (scope.selector !== undefined) return `selector ${factText(scope.selector)}`
  if (scope.whole_fleet) return 'the whole fleet'
  return 'workloads named one by one'
}

function drawTitlePage(writer: Writer, pack: EvidencePack): void {
  const { canvas } = writer
  canvas.rectangle(PAGE.margin, 96, WIDTH, 3, ACCENT)
  canvas.text(PAGE.margin, 140, 'Evidence Pack', TITLE)
  canvas.text(PAGE.margin, 160, 'Fleet of OpenTelemetry Collectors', { ...TEXT, size: 11, color: GREY })
  writer.y = 190
  const { scope } = pack
  writer.pair('Generated', pack.generated_at)
  writer.pair('Scope', describeScope(pack))
  writer.pair('Workloads', String(scope.workload_count ?? scope.workload_ids?.length ?? 0))
  writer.pair('Period', `${scope.since ?? 'from the beginning'}  –  ${scope.until ?? 'until generated'}`)
  writer.pair('Redaction', 'strict')
  writer.pair('Schema', pack.schema_version)
  writer.y += 10
  canvas.rule(PAGE.margin, writer.y, WIDTH, LINE)
  writer.y += 6
  writer.pair('inputs_hash', pack.inputs_hash)
  writer.pair('report_hash', pack.report_hash)
  for (const signature of pack.signatures ?? []) {
    writer.pair('Signature', `${signature.scheme}${signature.verifier ? `, ${signature.verifier}` : ''}`)
    writer.pair('payload_hash', signature.payload_hash)
    if (signature.key_id) writer.pair('key_id', signature.key_id)
    if (signature.signature_b64) writer.pair('signature_b64', signature.signature_b64)
  }
  if (pack.audit_head !== undefined)
    writer.pair('audit head', `${pack.audit_head.seq} ${pack.audit_head.hash}`)
  for (const [key, value] of Object.entries(pack.signed_audit ?? {}))
    writer.pair(`audit ${key}`, String(value))
  writer.y += 12
  writer.paragraph(
    'The period bounds config history, config plans, alerts and events. The other sections show how things stood ' +
      'when the pack was made. What redaction removed is shown as [redacted]; e-mail addresses are shown as user:<id>, ' +
      'but for names of people that were asked for with this document.',
    LABEL,
  )
  drawWarnings(writer, pack)
}

function drawWarnings(writer: Writer, pack: EvidencePack): void {
  if (pack.warnings === undefined || pack.warnings.length === 0) return
  writer.begin(60)
  writer.heading('Warnings')
  for (const { code, message } of pack.warnings) {
    writer.paragraph(code, { ...TEXT, font: 'bold' })
    writer.paragraph(message, TEXT)
    writer.y += 3
  }
}

function drawContents(writer: Writer, page: number, entries: readonly Entry[]): void {
  const { canvas } = writer
  canvas.goToPage(page)
  writer.y = BODY_TOP
  writer.heading('Contents')
  for (const entry of entries) {
    const title = toDrawable(entry.title)
    const number = String(entry.page)
    writer.y += 18
    canvas.text(PAGE.margin, writer.y, title, { ...TEXT, size: 10 })
    canvas.text(PAGE.margin + 240, writer.y, entry.detail, LABEL)
    const x = PAGE.margin + WIDTH - canvas.width(number, TEXT.font, 10)
    canvas.text(x, writer.y, number, { ...TEXT, size: 10 })
    canvas.rule(PAGE.margin, writer.y + 5, WIDTH, LINE)
    canvas.link(PAGE.margin, writer.y - 12, WIDTH, 18, entry.page)
  }
}

/** What the pack comes to, before all that it is made of. */
function drawSummary(writer: Writer, pack: EvidencePack, people: People): Entry {
  writer.begin(120)
  const page = writer.heading('In short')
  for (const [heading, lines] of summarize(pack, people)) {
    writer.paragraph(heading, { ...TEXT, font: 'bold' })
    for (const line of lines) writer.paragraph(line, TEXT, 10)
    writer.y += 4
  }
  return { title: 'In short', detail: '', page }
}

function drawSections(writer: Writer, pack: EvidencePack, people: People): Entry[] {
  return pack.sections.map((section) => {
    writer.begin(120)
    const page = writer.heading(section.title)
    if (section.items.length === 0) {
      writer.paragraph('Nothing to report.', LABEL)
      writer.y += 6
    } else {
      const items = section.items.map((item) => nameInItem(item, people))
      drawItems(writer.canvas, items, writer)
    }
    const count = section.items.length
    return { title: section.title, detail: count === 1 ? '1 item' : `${count} items`, page }
  })
}

/** The ids that the scope was resolved to, several on a line. */
function drawWorkloadIds(writer: Writer, ids: readonly string[]): Entry {
  writer.begin(80)
  const page = writer.heading('Workloads in scope')
  const style = { ...CODE, size: 6 }
  let line = ''
  for (const id of ids) {
    const longer = line === '' ? id : `${line}   ${id}`
    if (line !== '' && writer.canvas.width(longer, style.font, style.size) > WIDTH) {
      writer.paragraph(line, style, 0, 9)
      line = id
    } else line = longer
  }
  writer.paragraph(line, style, 0, 9)
  return { title: 'Workloads in scope', detail: ids.length === 1 ? '1 id' : `${ids.length} ids`, page }
}

function drawFooters(canvas: PdfCanvas, pack: EvidencePack): void {
  const total = canvas.pageCount
  for (let page = 1; page <= total; page++) {
    canvas.goToPage(page)
    const y = PAGE.height - PAGE.margin + 4
    canvas.rule(PAGE.margin, y - 10, WIDTH, LINE)
    const left = `Evidence Pack  ·  ${pack.generated_at}  ·  report_hash ${pack.report_hash.slice(0, 16)}…`
    canvas.text(PAGE.margin, y, toDrawable(left), NOTE)
    const right = `Page ${page} of ${total}`
    canvas.text(PAGE.margin + WIDTH - canvas.width(right, NOTE.font, NOTE.size), y, right, NOTE)
  }
}

/** The pack as a document to file: the same pack, and the same names, give the same bytes. */
export function renderPdf(pack: EvidencePack, people: People): Uint8Array<ArrayBuffer> {
  const canvas = new PdfCanvas({
    title: `Evidence Pack ${pack.inputs_hash.slice(0, 12)}`,
    subject: `${toDrawable(describeScope(pack))}, ${pack.scope.workload_count ?? 0} workloads`,
    keywords: `inputs_hash ${pack.inputs_hash}, report_hash ${pack.report_hash}`,
    createdAt: new Date(pack.generated_at),
    fileId: pack.report_hash.slice(0, 32),
  })
  const writer = new Writer(canvas)
  drawTitlePage(writer, pack)
  writer.begin(PAGE.height)
  const contentsPage = canvas.pageCount
  writer.newPage()
  const entries = [
    drawSummary(writer, pack, people),
    ...drawSections(writer, pack, people),
    drawWorkloadIds(writer, pack.scope.workload_ids ?? []),
  ]
  drawContents(writer, contentsPage, entries)
  for (const { title, page } of [{ title: 'Contents', page: contentsPage }, ...entries])
    canvas.bookmark(title, page)
  drawFooters(canvas, pack)
  return canvas.bytes()
}
