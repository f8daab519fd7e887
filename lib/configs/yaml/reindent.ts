/** Deeper than any config is indented. */
const PAD = ' '.repeat(400)
const BLOCK_HEADER = /(?:^|[\s:-])[|>][-+0-9]{0,2}[ \t]*(?:#.*)?$/

/**
 * The same text with the continuation lines of quoted texts and brackets indented. The collector's parser does
 * not mind how those are indented; the `yaml` package does. Blanks at their start mean nothing to either.
 */
export function indentContinuations(text: string): string {
  const scan: LineScan = { quote: '', depth: 0, isPlain: false }
  let blockIndent = -1
  return text
    .split('\n')
    .map((line) => {
      const indent = line.search(/[^ ]/)
      if (scan.quote === '' && scan.depth === 0) {
        // Lines of a block scalar are text, whatever they look like.
        if (blockIndent >= 0 && (indent === -1 || indent > blockIndent)) return line
        blockIndent = -1
        scanLine(line, scan)
        if (scan.quote === '' && scan.depth === 0 && BLOCK_HEADER.test(line)) blockIndent = indent
        return line
      }
      scanLine(line, scan)
      return line.trim() === '' ? line : PAD + line
    })
    .join('\n')
}

interface LineScan {
  /** The open quote, or ''. */
  quote: string
  /** Open brackets. */
  depth: number
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
    else if (character === '[' || character === '{') scan.depth++
    else if (character === '"' || character === "'") scan.quote = character
    else if (!(character === '-' && /\s|^$/.test(line[i + 1] ?? ''))) scan.isPlain = true
  }
}
