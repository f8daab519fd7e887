import { type ConfigValue, isObject } from './value.ts'
import { isFlowSafe, isPlainSafe, quoteDouble } from './write-scalar.ts'

/** Lines of a block, without their common indentation. */
type Lines = readonly string[]

const scalarText = (value: string | number | boolean | null, isSafe: (text: string) => boolean): string =>
  typeof value === 'string' ? (isSafe(value) ? value : quoteDouble(value)) : String(value)

/** A key, which is a text whatever it looks like. Between brackets a key has to be quoted more often. */
export const writeKey = (key: string, isInFlow = false): string =>
  /^[A-Za-z_][\w./-]*$/.test(key) || (isInFlow ? isFlowSafe(key) : isPlainSafe(key)) ? key : quoteDouble(key)

/** A value on one line, as it may stand between brackets. */
export function writeFlow(value: ConfigValue): string {
  if (Array.isArray(value)) return `[${value.map(writeFlow).join(', ')}]`
  if (!isObject(value)) return scalarText(value, isFlowSafe)
  const entries = Object.entries(value).map(([key, entry]) => `${writeKey(key, true)}: ${writeFlow(entry)}`)
  return `{${entries.join(', ')}}`
}

/**
 * What fits behind a colon or a dash, outside of brackets; null for a list or a mapping that needs lines of its own.
 */
export function writeInline(value: ConfigValue): string | null {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : null
  if (isObject(value)) return Object.keys(value).length === 0 ? '{}' : null
  return scalarText(value, isPlainSafe)
}

/** A list or a mapping that is not empty, as lines. */
export function writeBlock(value: ConfigValue, step: number): Lines {
  const pad = ' '.repeat(step)
  if (Array.isArray(value)) return value.flatMap((entry) => writeItem(entry, step))
  if (!isObject(value)) return [writeInline(value)!]
  return Object.entries(value).flatMap(([key, entry]) => writePair(key, entry, step, pad))
}

/** One key with its value, as lines. */
export function writePair(key: string, value: ConfigValue, step: number, pad = ' '.repeat(step)): Lines {
  const inline = writeInline(value)
  if (inline !== null) return [`${writeKey(key)}: ${inline}`]
  return [`${writeKey(key)}:`, ...writeBlock(value, step).map((line) => pad + line)]
}

/** One entry of a list, as lines. */
export function writeItem(value: ConfigValue, step: number): Lines {
  const inline = writeInline(value)
  if (inline !== null) return [`- ${inline}`]
  return writeBlock(value, step).map((line, index) => (index === 0 ? '- ' : '  ') + line)
}
