import type { FactValue } from '../wire/reports.ts'
import { sortedKeys } from './canonical.ts'

/** Compact JSON with sorted keys. */
function toJson(value: FactValue): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`
  return `{${sortedKeys(value)
    .map((key) => `${JSON.stringify(key)}:${toJson(value[key]!)}`)
    .join(',')}}`
}

/** A fact as text for CSV, Markdown and PDF: texts unchanged, nothing for null, JSON for everything else. */
export function factText(value: FactValue): string {
  if (value === null) return ''
  return typeof value === 'string' ? value : toJson(value)
}

/** The facts of an item in the order of their keys. */
export function sortedFacts(facts: Readonly<Record<string, FactValue>>): [key: string, text: string][] {
  return sortedKeys(facts).map((key) => [key, factText(facts[key]!)])
}

// Control characters, line and paragraph separators, and invisible characters, also those that change the direction of
// writing.
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

const PLAIN = /^[ -~]*$/

/**
 * A text on one line in which nothing is hidden: line breaks and tabs as escapes, other controls and invisible
 * characters as `[U+200B]`.
 */
export function visibleText(text: string): string {
  if (PLAIN.test(text)) return text
  return text.replace(INVISIBLE, (found) => {
    if (found === '\n') return '\\n'
    if (found === '\r') return '\\r'
    if (found === '\t') return '\\t'
    return `[U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`
  })
}
