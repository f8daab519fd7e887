import { createHash } from 'node:crypto'
import type { AvailableComponents, ComponentList } from '../../model/components.ts'

/** How many of the different lists have a category, and each of its types. */
interface CategoryCount {
  lists: number
  readonly types: Map<string, number>
}

/** Nearly all instances of a fleet report one of a few lists: workloads share the object that is made of each. */
const made = new WeakMap<ComponentList, AvailableComponents>()

/**
 * The components that all of some instances have in common. Agents choose how many lists there are and how long they
 * are: one that comes or goes costs as much as it has names, whatever the others have.
 */
export class CommonComponents {
  /** The different lists, each with how many instances report it. */
  readonly #lists = new Map<ComponentList, number>()
  /** Of the different lists; null while there are fewer than two, as nearly everywhere. */
  #counts: Map<string, CategoryCount> | null = null
  /** Undefined when it has to be worked out again. */
  #common: AvailableComponents | null | undefined = null

  /** An instance reports another list than before; null means none. */
  move(before: ComponentList | null, after: ComponentList | null): void {
    if (before === after) return
    if (after !== null) this.#add(after)
    if (before !== null) this.#remove(before)
  }

  /** The components in every list, with a new hash where lists differ; null when there is no list. */
  value(): AvailableComponents | null {
    if (this.#common === undefined) this.#common = this.#find()
    return this.#common
  }

  #add(list: ComponentList): void {
    const instances = this.#lists.get(list) ?? 0
    this.#lists.set(list, instances + 1)
    if (instances > 0) return
    this.#common = undefined
    if (this.#counts !== null) count(this.#counts, list, 1)
    else if (this.#lists.size > 1) {
      this.#counts = new Map()
      for (const each of this.#lists.keys()) count(this.#counts, each, 1)
    }
  }

  #remove(list: ComponentList): void {
    const instances = this.#lists.get(list)!
    if (instances > 1) {
      this.#lists.set(list, instances - 1)
      return
    }
    this.#lists.delete(list)
    this.#common = undefined
    if (this.#lists.size < 2) this.#counts = null
    else count(this.#counts!, list, -1)
  }

  #find(): AvailableComponents | null {
    const [first] = this.#lists.keys()
    if (first === undefined) return null
    return this.#counts === null ? allOf(first) : inAll(first, this.#counts, this.#lists.size)
  }
}

function count(counts: Map<string, CategoryCount>, { components }: ComponentList, by: 1 | -1): void {
  for (const [category, types] of components) {
    const counted = counts.get(category) ?? { lists: 0, types: new Map<string, number>() }
    counted.lists += by
    if (counted.lists === 0) counts.delete(category)
    else counts.set(category, counted)
    for (const type of types) {
      const lists = (counted.types.get(type) ?? 0) + by
      if (lists === 0) counted.types.delete(type)
      else counted.types.set(type, lists)
    }
  }
}

function allOf(list: ComponentList): AvailableComponents {
  const known = made.get(list)
  if (known !== undefined) return known
  const all = { components: Object.fromEntries(list.components), hash: list.hash }
  made.set(list, all)
  return all
}

/** What is in each of so many lists is in any one of them. */
function inAll(
  list: ComponentList,
  counts: ReadonlyMap<string, CategoryCount>,
  lists: number,
): AvailableComponents {
  const components: Record<string, readonly string[]> = {}
  for (const [category, types] of list.components) {
    const counted = counts.get(category)!
    if (counted.lists === lists)
      components[category] = types.filter((type) => counted.types.get(type) === lists)
  }
  return { components, hash: createHash('sha256').update(JSON.stringify(components)).digest('hex') }
}
