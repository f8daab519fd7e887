import { parse } from 'yaml'
import type { AvailableComponents } from '../../../lib/configs/check/target.ts'
import { CATEGORIES } from '../../../lib/wire/values.ts'

/**
 * What `otelcol components` prints: a list of `{ name, module, stability }`, or of names, for each category; null for
 * another text.
 */
export function readComponentList(text: string): { components: AvailableComponents; version: string } | null {
  let read: unknown
  try {
    read = parse(text, { maxAliasCount: 0 })
  } catch {
    return null
  }
  if (!isRecord(read)) return null
  const components = new Map<string, readonly string[]>()
  for (const category of CATEGORIES) {
    const list = read[category]
    if (Array.isArray(list)) components.set(category, list.flatMap(nameOf))
  }
  if (components.size === 0) return null
  const build = read['buildinfo']
  const version = isRecord(build) && typeof build['version'] === 'string' ? build['version'] : ''
  return { components, version }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function nameOf(entry: unknown): string[] {
  if (typeof entry === 'string') return [entry]
  return isRecord(entry) && typeof entry['name'] === 'string' ? [entry['name']] : []
}
