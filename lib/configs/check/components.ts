import { CATEGORIES, PIPELINE_SECTIONS } from '../../wire/values.ts'
import type { ParsedConfig } from '../yaml/parse.ts'
import {
  type Category,
  type ConfigObject,
  type ConfigValue,
  isExpanded,
  isObject,
  sortedKeys,
} from '../yaml/value.ts'
import type { AvailableComponents, ConfigTarget, ConfigTargetInstance, ExcludedInstance } from './target.ts'

/** A component that a config refers to or defines, with one place that names it. */
export interface ComponentRef {
  category: Category
  type: string
  id: string
  /** Such as `service.pipelines.traces.receivers[0]`. */
  path: string
}

/** The type of a component id: what stands before the first `/`. */
export function componentType(id: string): string {
  const slash = id.indexOf('/')
  return (slash === -1 ? id : id.slice(0, slash)).trim()
}

/** An id as the collector compares it: blanks around type and name do not count. */
export function normalId(id: string): string {
  const slash = id.indexOf('/')
  return slash === -1 ? id.trim() : `${id.slice(0, slash).trim()}/${id.slice(slash + 1).trim()}`
}

/** The ids that a section defines. */
export function definedIds(root: ConfigObject, category: Category): Set<string> {
  const section = root[category]
  return new Set(isObject(section) ? Object.keys(section).map(normalId) : [])
}

/** The ids that every section defines. */
export function definitions(root: ConfigObject): Record<Category, ReadonlySet<string>> {
  const entries = CATEGORIES.map((category) => [category, definedIds(root, category)])
  return Object.fromEntries(entries) as Record<Category, ReadonlySet<string>>
}

/**
 * Every reference to a component from pipelines and from `service.extensions`, in a fixed order. A pipeline's
 * receiver or exporter that only `connectors` defines is a connector. Undefined ids are included.
 */
export function componentReferences(config: ParsedConfig): ComponentRef[] {
  const { root } = config
  const defined = definitions(root)
  const references: ComponentRef[] = []
  const service = isObject(root['service']) ? root['service'] : null
  const pipelines = service && isObject(service['pipelines']) ? service['pipelines'] : {}
  for (const name of sortedKeys(pipelines)) {
    const pipeline = (pipelines as ConfigObject)[name]
    if (!isObject(pipeline)) continue
    for (const section of PIPELINE_SECTIONS) {
      const path = `service.pipelines.${name}.${section}`
      for (const { id, index } of idsOf(pipeline[section])) {
        const isConnector =
          section !== 'processors' && !defined[section].has(id) && defined.connectors.has(id)
        const category = isConnector ? 'connectors' : section
        references.push({ category, type: componentType(id), id, path: `${path}[${index}]` })
      }
    }
  }
  for (const { id, index } of idsOf(service?.['extensions'])) {
    references.push({
      category: 'extensions',
      type: componentType(id),
      id,
      path: `service.extensions[${index}]`,
    })
  }
  return references
}

/**
 * Everything that a collector must have for a config: first every reference, then every component that is defined and
 * not referred to. A collector reads every definition before it starts, and refuses a type that it does not have.
 */
export function neededComponents(config: ParsedConfig): ComponentRef[] {
  const references = componentReferences(config)
  const used = new Set(references.map(keyOf))
  const unused = CATEGORIES.flatMap((category) => {
    const section = config.root[category]
    return (isObject(section) ? sortedKeys(section) : []).map((key): ComponentRef => {
      const id = normalId(key)
      return { category, type: componentType(id), id, path: `${category}.${key}` }
    })
  }).filter((reference) => !used.has(keyOf(reference)))
  return [...references, ...unused]
}

const keyOf = ({ category, id }: ComponentRef): string => `${category}:${id}`

/** What `neededComponents` returns, each component once, with the first place that names it. */
export function requiredComponents(config: ParsedConfig): ComponentRef[] {
  const seen = new Set<string>()
  return neededComponents(config).filter((reference) => {
    const key = keyOf(reference)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

/** The ids in a list of references, each with its place; entries with a `${…}` or that are no text are left out. */
export function idsOf(list: ConfigValue | undefined): Array<{ id: string; index: number }> {
  if (!Array.isArray(list)) return []
  return list.flatMap((entry, index) =>
    typeof entry === 'string' && !isExpanded(entry) ? [{ id: normalId(entry), index }] : [],
  )
}

/** Spellings of one type that collectors accept for each other, and that older lists may hold either way. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  file_log: ['filelog'],
  filelog: ['file_log'],
  otlp: ['otlp_grpc'],
  otlp_grpc: ['otlp'],
  otlp_http: ['otlphttp'],
  otlphttp: ['otlp_http'],
}

function isListed(type: string, category: Category, listed: readonly string[]): boolean {
  if (listed.includes(type)) return true
  const isOtlpReceiver = category === 'receivers' && type.startsWith('otlp')
  if (!isOtlpReceiver && ALIASES[type]?.some((alias) => listed.includes(alias))) return true
  // Collectors report the newer spelling of a renamed type and still accept the older one, without underscores.
  const joined = type.replaceAll('_', '')
  return listed.some((other) => other.length > type.length && other.replaceAll('_', '') === joined)
}

/** The required components whose category is reported and whose type is not; none when nothing is reported. */
export function missingComponents(
  required: readonly ComponentRef[],
  available: AvailableComponents | null,
): ComponentRef[] {
  if (available === null || available.size === 0) return []
  return required.filter(({ category, type }) => {
    const listed = available.get(category)
    return listed !== undefined && !isListed(type, category, listed)
  })
}

/** Whether no required component is known to be missing; true too where nothing, or not its category, is reported. */
export function isCompatible(
  required: readonly ComponentRef[],
  available: AvailableComponents | null,
): boolean {
  return missingComponents(required, available).length === 0
}

/** A component that only some of the instances lack. */
export interface PartlyMissing {
  reference: ComponentRef
  instances: Array<{ uid: string; podName: string }>
}

/** What the instances of a workload say together about the components of a config. */
export interface Availability {
  /** Lacked by every instance that reports its category. */
  missing: ComponentRef[]
  partlyMissing: PartlyMissing[]
  /** Categories that are referenced and that no instance reports, sorted; empty when nothing is reported at all. */
  unreportedCategories: Category[]
  /** Sorted. */
  reportedCategories: string[]
  /** Types known to be there, by category, sorted. */
  availableTypes: ReadonlyMap<string, readonly string[]>
}

/**
 * Compare what a config needs with what the capable instances report: all live instances where none of them is
 * capable, and what was reported last where none lives. The order of instances does not matter.
 */
export function componentAvailability(required: readonly ComponentRef[], target: ConfigTarget): Availability {
  const lists = reportedLists(target)
  // Thousands of instances share a few lists.
  const different = [...new Set(lists.map(({ components }) => components))]
  const availableTypes = unionOf(different)
  const result: Availability = {
    missing: [],
    partlyMissing: [],
    unreportedCategories: [],
    reportedCategories: [...availableTypes.keys()].sort(),
    availableTypes,
  }
  if (availableTypes.size === 0) return result
  const unreported = new Set<Category>()
  for (const reference of required) {
    const reporting = different.filter((components) => components.has(reference.category))
    if (reporting.length === 0) {
      unreported.add(reference.category)
      continue
    }
    const lacking = new Set(reporting.filter((components) => !isCompatible([reference], components)))
    if (lacking.size === reporting.length) result.missing.push(reference)
    else if (lacking.size > 0) {
      const instances = lists
        .filter(({ components }) => lacking.has(components))
        .map(({ uid, podName }) => ({ uid, podName }))
      result.partlyMissing.push({ reference, instances })
    }
  }
  result.unreportedCategories = [...unreported].sort()
  return result
}

/** The instances that a config cannot be sent to, ordered as they came. */
export function excludedInstances(
  required: readonly ComponentRef[],
  instances: readonly ConfigTargetInstance[],
): ExcludedInstance[] {
  return instances.flatMap(({ uid, podName, components, isCapable }): ExcludedInstance[] => {
    if (!isCapable) return [{ uid, podName, reason: 'read_only', missing: [] }]
    const missing = missingComponents(required, components)
    return missing.length === 0 ? [] : [{ uid, podName, reason: 'component_not_installed', missing }]
  })
}

interface ReportedList {
  uid: string
  podName: string
  components: AvailableComponents
}

function reportedLists(target: ConfigTarget): ReportedList[] {
  const capable = target.instances.filter(({ isCapable }) => isCapable)
  const counted = capable.length > 0 ? capable : target.instances
  if (counted.length === 0) {
    const components = target.lastKnownComponents
    return components && components.size > 0 ? [{ uid: '', podName: '', components }] : []
  }
  return counted
    .flatMap(({ uid, podName, components }) =>
      components && components.size > 0 ? [{ uid, podName, components }] : [],
    )
    .sort((a, b) => (a.uid < b.uid ? -1 : 1))
}

function unionOf(lists: readonly AvailableComponents[]): Map<string, string[]> {
  const union = new Map<string, Set<string>>()
  for (const list of lists) {
    for (const [category, types] of list) {
      const known = union.get(category) ?? new Set<string>()
      for (const type of types) known.add(type)
      union.set(category, known)
    }
  }
  return new Map([...union].map(([category, types]) => [category, [...types].sort()]))
}
