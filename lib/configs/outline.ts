import { CATEGORIES } from '../wire/values.ts'
import { type ComponentRef, componentReferences, componentType, definedIds } from './check/components.ts'
import { parseConfig } from './yaml/parse.ts'
import type { Category } from './yaml/value.ts'

/** What a config is made of: every component it defines, and the places that refer to one. */
export interface ConfigOutline {
  /** Each type once; instance names are left out. */
  defined: { category: Category; type: string }[]
  /** `USED_MAX` at most, the first ones. */
  used: ComponentRef[]
}

/**
 * Places that are told of one config. Each says the whole name of its pipeline, so that a short text could make any
 * number of bytes; a name that no collector takes makes none.
 */
const USED_MAX = 2_000
const PATH_LENGTH_MAX = 1_200

/** The outline of a config; of a text that cannot be read, an empty one. */
export function outlineConfig(text: string): ConfigOutline {
  const parsed = parseConfig(text)
  if (!parsed.ok) return { defined: [], used: [] }
  const { root } = parsed.document
  const defined = CATEGORIES.flatMap((category) => {
    const types = new Set([...definedIds(root, category)].map(componentType))
    return [...types].sort().map((type) => ({ category, type }))
  })
  const used = componentReferences(parsed.document).filter(({ path }) => path.length <= PATH_LENGTH_MAX)
  return { defined, used: used.slice(0, USED_MAX) }
}
