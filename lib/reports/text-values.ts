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

/** A fact as the text formats say it: texts as they are, nothing for null, JSON for lists and maps. */
export function factText(value: FactValue): string {
  if (value === null) return ''
  return typeof value === 'string' ? value : toJson(value)
}

/** The facts of an item in the order of their keys. */
export function sortedFacts(facts: Readonly<Record<string, FactValue>>): [key: string, text: string][] {
  return sortedKeys(facts).map((key) => [key, factText(facts[key]!)])
}

// Controls, line and paragraph separators, and what turns the direction of writing around.
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

const PLAIN = /^[ -~]*$/

/** Text on one line in which nothing hides: controls and invisible signs by their code points. */
export function visibleText(text: string): string {
  if (PLAIN.test(text)) return text
  return text.replace(INVISIBLE, (found) => {
    if (found === '\n') return '\\n'
    if (found === '\r') return '\\r'
    if (found === '\t') return '\\t'
    return `[U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`
  })
}
