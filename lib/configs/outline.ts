import { CATEGORIES } from '../wire/values.ts'
import { type ComponentRef, componentReferences, componentType, definedIds } from './check/components.ts'
import { type Destination, listDestinations } from './diff/destinations.ts'
import { parseConfig } from './yaml/parse.ts'
import type { Category } from './yaml/value.ts'

/** What a config is made of: every component it defines, and every place that refers to one. */
export interface ConfigOutline {
  /** Each type once; instance names are left out. */
  defined: { category: Category; type: string }[]
  used: ComponentRef[]
  /** Where it sends data. */
  destinations: Destination[]
}

/** The outline of a config; of a text that cannot be read, an empty one. */
export function outlineConfig(text: string): ConfigOutline {
  const parsed = parseConfig(text)
  if (!parsed.ok) return { defined: [], used: [], destinations: [] }
  const { root } = parsed.document
  const defined = CATEGORIES.flatMap((category) => {
    const types = new Set([...definedIds(root, category)].map(componentType))
    return [...types].sort().map((type) => ({ category, type }))
  })
  return { defined, used: componentReferences(parsed.document), destinations: listDestinations(root) }
}
