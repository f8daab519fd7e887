import { type Fault, faultOf } from '../../model/faults.ts'

/** A `${muster:name}` or `${muster:name:-fallback}` in a text. */
export interface Placeholder {
  name: string
  /** What stands behind `:-`; null without it. */
  fallback: readonly Piece[] | null
  /** It stands inside a `${…}` of the collector (`${env:${muster:region}_KEY}`): a part of a name, not a value. */
  isInReference: boolean
}

/** Characters as they stand there, or a placeholder. */
export type Piece = string | Placeholder

const OPENING = '${muster:'
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
/** Longest name of a variable. */
export const VARIABLE_NAME_LENGTH_MAX = 64
/** Fallbacks inside fallbacks. */
const NESTED_MAX = 10

/** Whether a name can be one of a variable. */
export const isVariableName = (name: string): boolean =>
  name.length <= VARIABLE_NAME_LENGTH_MAX && /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)

/** Whether a text holds the beginning of a placeholder that is not escaped, as `$${muster:x}` is. */
export function holdsPlaceholder(text: string): boolean {
  for (let at = text.indexOf('$'); at !== -1; at = text.indexOf('$', at)) {
    if (text.startsWith(OPENING, at)) return true
    at += text[at + 1] === '$' ? 2 : 1
  }
  return false
}

/** Thrown for a text in which a `${muster:` begins no valid placeholder. */
export class BadPlaceholder extends Error {
  override readonly name = 'BadPlaceholder'
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.reason)
    this.fault = fault
  }
}

/** The pieces of a text. Throws `BadPlaceholder`. */
export function readPieces(text: string): Piece[] {
  const { pieces } = readUntil(text, 0, { level: 0, isInReference: false })
  return pieces
}

interface Surroundings {
  /** How many fallbacks the place is inside of. */
  level: number
  isInReference: boolean
}

/** Read up to the `}` that ends a fallback, or to the end of the text. */
function readUntil(text: string, from: number, around: Surroundings): { pieces: Piece[]; end: number } {
  const pieces: Piece[] = []
  let plain = ''
  let references = 0
  let at = from
  while (at < text.length) {
    if (text.startsWith('$$', at)) {
      plain += '$$'
      at += 2
    } else if (text.startsWith(OPENING, at)) {
      const isInReference = around.isInReference || references > 0
      const { placeholder, end } = readPlaceholder(text, at, { level: around.level, isInReference })
      pieces.push(plain, placeholder)
      plain = ''
      at = end
    } else {
      if (text.startsWith('${', at)) references++
      if (text[at] === '}') {
        if (references === 0 && around.level > 0) return { pieces: [...pieces, plain], end: at + 1 }
        references = Math.max(0, references - 1)
      }
      plain += text[at++]
    }
  }
  if (around.level > 0) throw new BadPlaceholder(faultOf('placeholder_open'))
  return { pieces: [...pieces, plain], end: at }
}

function readPlaceholder(
  text: string,
  start: number,
  around: Surroundings,
): { placeholder: Placeholder; end: number } {
  NAME.lastIndex = start + OPENING.length
  const name = NAME.exec(text)?.[0] ?? ''
  if (!isVariableName(name)) throw new BadPlaceholder(faultOf('placeholder_nameless'))
  const behind = start + OPENING.length + name.length
  const { isInReference } = around
  if (text[behind] === '}') return { placeholder: { name, fallback: null, isInReference }, end: behind + 1 }
  if (!text.startsWith(':-', behind)) throw new BadPlaceholder(faultOf('placeholder_followed', { name }))
  if (around.level >= NESTED_MAX) throw new BadPlaceholder(faultOf('placeholder_nested'))
  const inner = readUntil(text, behind + 2, { level: around.level + 1, isInReference })
  return { placeholder: { name, fallback: inner.pieces, isInReference }, end: inner.end }
}

/** The names of all variables in some pieces, each once. */
export function namesIn(pieces: readonly Piece[]): Set<string> {
  const names = new Set<string>()
  for (const piece of pieces) {
    if (typeof piece === 'string') continue
    names.add(piece.name)
    if (piece.fallback !== null) for (const name of namesIn(piece.fallback)) names.add(name)
  }
  return names
}
