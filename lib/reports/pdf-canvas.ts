import { jsPDF } from 'jspdf'
import { DEJAVU_SANS_CONDENSED } from './fonts/dejavu-sans-condensed.generated.ts'
import { DEJAVU_SANS_CONDENSED_BOLD } from './fonts/dejavu-sans-condensed-bold.generated.ts'
import { DEJAVU_SANS_MONO } from './fonts/dejavu-sans-mono.generated.ts'

/** A4, upright, in points. */
export const PAGE = { width: 595.28, height: 841.89, margin: 42 } as const

export type FontName = 'regular' | 'bold' | 'mono'
/** Red, green and blue from 0 to 1. */
export type Color = readonly [number, number, number]
export const BLACK: Color = [0.1, 0.11, 0.13]
export const GREY: Color = [0.42, 0.45, 0.5]
export const WHITE: Color = [1, 1, 1]
export const ACCENT: Color = [0.09, 0.25, 0.42]
export const LINE: Color = [0.8, 0.82, 0.85]

export interface TextStyle {
  font: FontName
  size: number
  color: Color
}

/** What jsPDF keeps about an embedded font; its types leave it out. */
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
  /** Code unit to its glyph in hex and its advance in thousandths of the size. */
  glyphs: Map<number, { hex: string; advance: number }>
}

const FONT_FILES: readonly (readonly [FontName, postScriptName: string, base64: string])[] = [
  ['regular', 'DejaVuSansCondensed', DEJAVU_SANS_CONDENSED],
  ['bold', 'DejaVuSansCondensed-Bold', DEJAVU_SANS_CONDENSED_BOLD],
  ['mono', 'DejaVuSansMono', DEJAVU_SANS_MONO],
]

export interface DocumentProperties {
  title: string
  subject: string
  keywords: string
  /** Of the pack; no other time gets into the document. */
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

const round = (value: number) => value.toFixed(2)
const toRgb = (color: Color) => color.map((part) => part.toFixed(3)).join(' ')

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
      // Only fonts that its own `text` has used get into the file.
      this.#doc.text(' ', 0, 0)
      const { id, metadata } = this.#doc.getFont() as unknown as { id: string; metadata: FontMetadata }
      this.#fonts.set(name, { id, metadata, glyphs: new Map() })
    }
  }

  /** How many pages there are. */
  get pageCount(): number {
    return this.#pages
  }

  addPage(): void {
    this.#doc.addPage()
    this.#pages++
  }

  /** Write on a page that is there, counted from 1. */
  goToPage(page: number): void {
    this.#doc.setPage(page)
  }

  /** One line of text, its baseline at `y` points below the page's top. */
  text(x: number, y: number, text: string, style: TextStyle): void {
    if (text === '') return
    const font = this.#fonts.get(style.font)!
    let hex = ''
    for (let i = 0; i < text.length; i++) hex += glyphOf(font, text.charCodeAt(i)).hex
    this.#write(
      `BT /${font.id} ${style.size} Tf ${toRgb(style.color)} rg ${round(x)} ${this.#fromTop(y)} Td <${hex}> Tj ET`,
    )
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
    this.#write(
      `${toRgb(color)} rg ${round(x)} ${this.#fromTop(y + height)} ${round(width)} ${round(height)} re f`,
    )
  }

  /** A thin level line. */
  rule(x: number, y: number, width: number, color: Color): void {
    this.#write(
      `0.5 w ${toRgb(color)} RG ${round(x)} ${this.#fromTop(y)} m ${round(x + width)} ${this.#fromTop(y)} l S`,
    )
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
    return new Uint8Array(this.#doc.output('arraybuffer'))
  }

  #fromTop(y: number): string {
    return round(PAGE.height - y)
  }

  #write(operators: string): void {
    // Not in its types, but what its own plug-ins write with.
    const { internal } = this.#doc as unknown as { internal: { write(operators: string): void } }
    internal.write(operators)
  }
}

const BREAKS_BEHIND = ' -_/.:,;'

/** A glyph, told to the font on first use: its subset, its widths and the table that makes its text searchable. */
function glyphOf(font: Font, code: number): { hex: string; advance: number } {
  const known = font.glyphs.get(code)
  if (known) return known
  const { metadata } = font
  const glyph = metadata.characterToGlyph(code)
  const advance = Math.trunc(metadata.widthOfGlyph(glyph))
  metadata.glyIdsUsed.push(glyph)
  metadata.toUnicode[glyph] = code
  metadata.Unicode.widths.push(glyph, [advance])
  const entry = { hex: glyph.toString(16).padStart(4, '0'), advance }
  font.glyphs.set(code, entry)
  return entry
}
