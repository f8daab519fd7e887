import { jsPDF } from 'jspdf'
import { DEJAVU_SANS_CONDENSED } from './fonts/dejavu-sans-condensed.generated.ts'
import { DEJAVU_SANS_CONDENSED_BOLD } from './fonts/dejavu-sans-condensed-bold.generated.ts'
import { DEJAVU_SANS_MONO } from './fonts/dejavu-sans-mono.generated.ts'

/** A4, upright, in points. */
export const PAGE = { width: 595.28, height: 841.89, margin: 42 } as const

/** The embedded fonts. */
export type FontName = 'regular' | 'bold' | 'mono'
/** Red, green and blue from 0 to 1, as PDF operands. */
export type Color = `${number} ${number} ${number}`
export const BLACK: Color = '0.1 0.11 0.13'
export const GREY: Color = '0.42 0.45 0.5'
export const WHITE: Color = '1 1 1'
export const ACCENT: Color = '0.09 0.25 0.42'
export const LINE: Color = '0.8 0.82 0.85'

/** How a text is drawn; `size` is in points. */
export interface TextStyle {
  font: FontName
  size: number
  color: Color
}

/** What jsPDF keeps about an embedded font; its own types do not have it. */
interface FontMetadata {
  characterToGlyph(code: number): number
  widthOfGlyph(glyph: number): number
  glyIdsUsed: number[]
  toUnicode: Record<number, number>
  Unicode: { widths: (number | number[])[] }
}

interface Font {
  id: string
  metadata: FontMetadata
  /**
   * By UTF-16 code unit: the two bytes of its glyph in a PDF string, and its advance in thousandths of the font size.
   */
  glyphs: Map<number, { bytes: string; advance: number }>
  /** Encoded short texts, because names of facts and many values are repeated often. */
  texts: Map<string, string>
}

const FONT_FILES: readonly (readonly [FontName, postScriptName: string, base64: string])[] = [
  ['regular', 'DejaVuSansCondensed', DEJAVU_SANS_CONDENSED],
  ['bold', 'DejaVuSansCondensed-Bold', DEJAVU_SANS_CONDENSED_BOLD],
  ['mono', 'DejaVuSansMono', DEJAVU_SANS_MONO],
]

/** What is written into the metadata of the document. */
export interface DocumentProperties {
  title: string
  subject: string
  keywords: string
  /** When the pack was made; no other time gets into the document, so that the bytes repeat. */
  createdAt: Date
  /** 32 hex digits. */
  fileId: string
}

/** jsPDF writes a date by its local fields; these are the ones in UTC. */
class UtcDate extends Date {
  override getTimezoneOffset = () => 0
  override getFullYear = () => this.getUTCFullYear()
  override getMonth = () => this.getUTCMonth()
  override getDate = () => this.getUTCDate()
  override getHours = () => this.getUTCHours()
  override getMinutes = () => this.getUTCMinutes()
  override getSeconds = () => this.getUTCSeconds()
}

const round = (value: number) => String(Math.round(value * 100) / 100)
const CACHED_CHARACTERS_MAX = 24
const CACHED_TEXTS_MAX = 20_000

/**
 * A PDF of A4 pages with the embedded fonts. Texts must be of the glyphs that the fonts have (`toPdfText`; `mono` has
 * ASCII only).
 *
 * Fonts, pages, outline, links and metadata are jsPDF's. Text and lines are written as page operators of our own,
 * because its `text` runs every call through bidirectional reordering, which takes most of the time of a long report
 * and can change nothing in the scripts that are embedded.
 */
export class PdfCanvas {
  readonly #doc: jsPDF
  readonly #fonts = new Map<FontName, Font>()
  #pages = 1
  /** Operators of the current page that were not handed to jsPDF yet. */
  #pending: string[] = []
  #font = ''
  #fill = ''

  constructor(properties: DocumentProperties) {
    this.#doc = new jsPDF({ unit: 'pt', format: 'a4', compress: true, putOnlyUsedFonts: true })
    this.#doc.setFileId(properties.fileId.toUpperCase())
    this.#doc.setCreationDate(new UtcDate(properties.createdAt.getTime()))
    const { title, subject, keywords } = properties
    this.#doc.setDocumentProperties({ title, subject, keywords, author: 'muster', creator: 'muster' })
    this.#doc.setLanguage('en')
    for (const [name, postScriptName, base64] of FONT_FILES) {
      this.#doc.addFileToVFS(`${name}.ttf`, base64)
      this.#doc.addFont(`${name}.ttf`, postScriptName, 'normal')
      this.#doc.setFont(postScriptName, 'normal')
      // jsPDF writes only fonts into the file that its own `text` has used.
      this.#doc.text(' ', 0, 0)
      const { id, metadata } = this.#doc.getFont() as unknown as { id: string; metadata: FontMetadata }
      this.#fonts.set(name, { id, metadata, glyphs: new Map(), texts: new Map() })
    }
  }

  /** How many pages there are. */
  get pageCount(): number {
    return this.#pages
  }

  addPage(): void {
    this.#flush()
    this.#doc.addPage()
    this.#pages++
  }

  /** Go on writing on an existing page, counted from 1. */
  goToPage(page: number): void {
    this.#flush()
    this.#doc.setPage(page)
  }

  /** One line of text, its baseline at `y` points below the page's top. */
  text(x: number, y: number, text: string, style: TextStyle): void {
    if (text === '') return
    const font = this.#fonts.get(style.font)!
    const chosen = `/${font.id} ${style.size} Tf`
    const switches = chosen === this.#font ? '' : `${chosen} `
    this.#font = chosen
    this.#setFill(style.color)
    this.#pending.push(`BT ${switches}${round(x)} ${this.#fromTop(y)} Td (${encodeText(font, text)}) Tj ET`)
  }

  /** A text's width in points. */
  width(text: string, font: FontName, size: number): number {
    const of = this.#fonts.get(font)!
    let advance = 0
    for (let i = 0; i < text.length; i++) advance += glyphOf(of, text.charCodeAt(i)).advance
    return (advance * size) / 1000
  }

  /** Break a text into lines of a width: behind a space or punctuation, else (and always in `mono`) anywhere. */
  wrap(text: string, font: FontName, size: number, widthMax: number): string[] {
    const of = this.#fonts.get(font)!
    const limit = (widthMax * 1000) / size
    const lines: string[] = []
    let start = 0
    let advance = 0
    let breakAt = -1
    let advanceAtBreak = 0
    for (let i = 0; i < text.length; i++) {
      const step = glyphOf(of, text.charCodeAt(i)).advance
      if (advance + step > limit && i > start) {
        const end = breakAt > start ? breakAt : i
        lines.push(text.slice(start, end).trimEnd())
        advance = breakAt > start ? advance - advanceAtBreak : 0
        start = end
        breakAt = -1
        if (text[i] === ' ' && i === start) {
          start = i + 1
          continue
        }
      }
      advance += step
      if (font !== 'mono' && BREAKS_BEHIND.includes(text[i]!)) {
        breakAt = i + 1
        advanceAtBreak = advance
      }
    }
    lines.push(text.slice(start))
    return lines
  }

  rectangle(x: number, y: number, width: number, height: number, color: Color): void {
    this.#setFill(color)
    this.#pending.push(`${round(x)} ${this.#fromTop(y + height)} ${round(width)} ${round(height)} re f`)
  }

  /** A thin level line. */
  rule(x: number, y: number, width: number, color: Color): void {
    const level = this.#fromTop(y)
    this.#pending.push(`0.5 w ${color} RG ${round(x)} ${level} m ${round(x + width)} ${level} l S`)
  }

  /** Make an area of the present page lead to another page. */
  link(x: number, y: number, width: number, height: number, page: number): void {
    this.#doc.link(x, y, width, height, { pageNumber: page })
  }

  /** Add an entry to the outline that viewers show beside the pages. */
  bookmark(title: string, page: number): void {
    this.#doc.outline.add(null, title, { pageNumber: page })
  }

  bytes(): Uint8Array<ArrayBuffer> {
    this.#flush()
    return new Uint8Array(this.#doc.output('arraybuffer'))
  }

  #fromTop(y: number): string {
    return round(PAGE.height - y)
  }

  #setFill(color: Color): void {
    if (color === this.#fill) return
    this.#fill = color
    this.#pending.push(`${color} rg`)
  }

  /** Hand the pending operators to jsPDF; the next ones set font and colour again. */
  #flush(): void {
    this.#font = ''
    this.#fill = ''
    if (this.#pending.length === 0) return
    // Not in the types of jsPDF, but its own plug-ins write with it.
    const { internal } = this.#doc as unknown as { internal: { write(operators: string): void } }
    internal.write(this.#pending.join('\n'))
    this.#pending = []
  }
}

const BREAKS_BEHIND = ' -_/.:,;'

/** A text as the inside of a PDF string of two-byte glyphs. */
function encodeText(font: Font, text: string): string {
  const known = font.texts.get(text)
  if (known !== undefined) return known
  const parts = new Array<string>(text.length)
  for (let i = 0; i < text.length; i++) parts[i] = glyphOf(font, text.charCodeAt(i)).bytes
  const encoded = parts.join('')
  if (text.length <= CACHED_CHARACTERS_MAX && font.texts.size < CACHED_TEXTS_MAX)
    font.texts.set(text, encoded)
  return encoded
}

/** A byte inside a PDF string (PDF 32000-1, 7.3.4.2). */
function stringByte(byte: number): string {
  const character = String.fromCharCode(byte)
  if (byte === 0x0d) return '\\r'
  return character === '(' || character === ')' || character === '\\' ? `\\${character}` : character
}

/**
 * The glyph of a code unit. On first use it is registered with the font: for the subset, the widths and the table that
 * makes the text searchable.
 */
function glyphOf(font: Font, code: number): { bytes: string; advance: number } {
  const known = font.glyphs.get(code)
  if (known) return known
  const { metadata } = font
  const glyph = metadata.characterToGlyph(code)
  const advance = Math.trunc(metadata.widthOfGlyph(glyph))
  metadata.glyIdsUsed.push(glyph)
  metadata.toUnicode[glyph] = code
  metadata.Unicode.widths.push(glyph, [advance])
  const entry = { bytes: stringByte(glyph >> 8) + stringByte(glyph & 0xff), advance }
  font.glyphs.set(code, entry)
  return entry
}
