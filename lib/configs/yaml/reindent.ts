/** Deeper than any config is indented. */
const INDENT_MAX = 400
/** Blanks that indenting may add to a text however short it is; to a longer text it may add the text's own length. */
const ADDED_MIN = 65_536
const BLOCK_HEADER = /(?:^|[\s:-])[|>][-+0-9]{0,2}[ \t]*(?:#|\r?$)/

/**
 * The same text with the continuation lines of quoted texts and brackets indented past where these were opened. The
 * collector's parser does not mind how those are indented; the `yaml` package does. Blanks at their start mean
 * nothing to either. A text to which this would add too many blanks comes back as it was.
 */
export function indentContinuations(text: string): string {
  const scan: LineScan = { quote: '', depth: 0, isPlain: false, openedAt: 0 }
  const addedMax = Math.max(ADDED_MIN, text.length)
  let blockIndent = -1
  let added = 0
  const lines: string[] = []
  for (const line of text.split('\n')) {
    const indent = line.search(/[^ ]/)
    if (scan.quote === '' && scan.depth === 0) {
      // Lines of a block scalar are text, whatever they look like.
      if (blockIndent < 0 || (indent !== -1 && indent <= blockIndent)) {
        scanLine(line, scan)
        blockIndent = scan.quote === '' && scan.depth === 0 && BLOCK_HEADER.test(line) ? indent : -1
      }
      lines.push(line)
      continue
    }
    const wanted = Math.min(INDENT_MAX, scan.openedAt + 1)
    scanLine(line, scan)
    const missing = line.trim() === '' ? 0 : Math.max(0, wanted - indent)
    added += missing
    if (added > addedMax) return text
    lines.push(' '.repeat(missing) + line)
  }
  return lines.join('\n')
}

interface LineScan {
  /** The open quote, or ''. */
  quote: string
  /** Open brackets. */
  depth: number
  /** The column of the outermost bracket or quote that was opened last. */
  openedAt: number
  /** Inside a text without quotes, in which quotes mean nothing. */
  isPlain: boolean
}

function scanLine(line: string, scan: LineScan): void {
  if (scan.depth === 0) scan.isPlain = false
  for (let i = 0; i < line.length; i++) {
    const character = line[i]!
    if (scan.quote !== '') {
      if (character === '\\' && scan.quote === '"') i++
      else if (character === scan.quote) {
        if (character === "'" && line[i + 1] === "'") i++
        else scan.quote = ''
      }
      continue
    }
    const before = line[i - 1] ?? ' '
    if (character === '#' && /\s/.test(before)) return
    if (/\s/.test(character)) continue
    if (character === ':' && /[\s,[\]{}]|^$/.test(line[i + 1] ?? '')) scan.isPlain = false
    else if (scan.depth > 0 && ',[]{}'.includes(character)) {
      if ('[{'.includes(character)) scan.depth++
      if (']}'.includes(character)) scan.depth--
      scan.isPlain = false
    } else if (scan.isPlain) continue
    else if ('[{"\''.includes(character)) open(scan, character, i)
    else if (!(character === '-' && /\s|^$/.test(line[i + 1] ?? ''))) scan.isPlain = true
  }
}

function open(scan: LineScan, character: string, column: number): void {
  if (scan.depth === 0) scan.openedAt = column
  if (character === '[' || character === '{') scan.depth++
  else scan.quote = character
}
