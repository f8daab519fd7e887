import { sortedJson } from '../../model/sorted-json.ts'
import { compareText } from '../../model/text-order.ts'
import { CATEGORIES } from '../../wire/values.ts'
import { componentType } from '../check/components.ts'
import { type Renaming, renameComponent } from '../patch/rename.ts'
import { type Category, type ConfigObject, type ConfigValue, emptyObject, isObject } from '../yaml/value.ts'
import { type ComparedConfig, type ComparedPart, cutUp, sectionIds } from './model.ts'

/** More in one change are told as components that went and others that came. */
const RENAMINGS_MAX = 50

/** Components that only got another id, and the base in which they have it already. */
export interface Renamings {
  base: ComparedConfig
  /** From the key of a component in the base to its key in the target, and the other way round. */
  to: ReadonlyMap<string, string>
  from: ReadonlyMap<string, string>
}

/**
 * Find the components that only got another id: of one type, with equal settings, and used by the same pipelines under
 * the one id before and under the other after. Where several are alike it means nothing which of them is which.
 */
export function findRenamings(root: ConfigObject, base: ComparedConfig, target: ComparedConfig): Renamings {
  const come = new Map<string, ComparedPart[]>()
  for (const { part, likeness } of listOnly(target, base))
    come.set(likeness, [...(come.get(likeness) ?? []), part])
  const to = new Map<string, string>()
  let renamed = root
  for (const { part, likeness } of listOnly(base, target)) {
    const after = come.get(likeness)?.shift()
    if (after === undefined) continue
    if (to.size === RENAMINGS_MAX) break
    to.set(part.key, after.key)
    renamed = renameComponent(renamed, renamingOf(part, after)).root
  }
  const from = new Map([...to].map(([before, after]) => [after, before]))
  return { base: to.size === 0 ? base : cutUp(renamed), to, from }
}

const renamingOf = ({ category, id }: ComparedPart, { id: to }: ComparedPart): Renaming => ({
  category: category as Category,
  from: id,
  to,
})

/** The components that one config has and the other has not, each with a text that is the same for others like it. */
function listOnly(config: ComparedConfig, other: ComparedConfig): { part: ComparedPart; likeness: string }[] {
  const only = [...config.parts.values()].filter(
    ({ key, category }) => !other.parts.has(key) && (CATEGORIES as readonly string[]).includes(category),
  )
  if (only.length === 0) return []
  const uses = usesOf(config)
  return only
    .sort((a, b) => compareText(a.key, b.key))
    .map((part) => {
      const { key, category, id, settings } = part
      const like = [category, componentType(id), settings ?? emptyObject(), uses.get(key) ?? []]
      return { part, likeness: sortedJson(like) }
    })
}

/** Where each component is used, by its key: sections of pipelines, and for an extension the list of those started. */
function usesOf({ parts, pipelines }: ComparedConfig): Map<string, string[]> {
  const uses = new Map<string, string[]>()
  const note = (key: string, use: string) => {
    const known = uses.get(key)
    if (known === undefined) uses.set(key, [use])
    else if (!known.includes(use)) known.push(use)
  }
  for (const [name, pipeline] of [...pipelines].sort(([a], [b]) => compareText(a, b)))
    for (const section of ['receivers', 'processors', 'exporters'] as const)
      for (const id of sectionIds(pipeline, section)) {
        const isConnector = section !== 'processors' && parts.has(`connectors:${id}`)
        note(`${isConnector ? 'connectors' : section}:${id}`, `${section} of ${name}`)
      }
  const started = parts.get('service:extensions')?.settings
  if (Array.isArray(started))
    for (const id of started) if (typeof id === 'string') note(`extensions:${id}`, 'started')
  return uses
}

/** Settings that name where a component stores what it has to remember: it finds that by its own id. */
const STORES = new Set(['storage', 'storage_id'])

/** Whether a component stores something that it would not find under another id. */
export function storesByItsId(settings: ConfigValue): boolean {
  if (Array.isArray(settings)) return settings.some(storesByItsId)
  if (!isObject(settings)) return false
  return Object.entries(settings).some(
    ([key, value]) => (STORES.has(key) && typeof value === 'string') || storesByItsId(value),
  )
}
