import type { RiskLevel } from '../../wire/plan.ts'
import { CATEGORIES } from '../../wire/values.ts'
import { componentType } from '../check/components.ts'
import { redactName } from '../redact/redact.ts'
import {
  type Category,
  type ConfigObject,
  type ConfigValue,
  isExpanded,
  isObject,
  type PipelineSection,
  sortedKeys,
} from '../yaml/value.ts'

/** One component, or one other setting of the service, as the diff compares it. */
export interface ComparedPart {
  /** `<category>:<id>`. */
  key: string
  category: string
  id: string
  settings: ConfigValue
  path: string
}

/** A config cut up into what is compared. */
export interface ComparedConfig {
  parts: Map<string, ComparedPart>
  pipelines: Map<string, ConfigValue>
}

const RISKS: readonly RiskLevel[] = ['none', 'low', 'medium', 'high']

/** The highest of several risks; `none` when there are none. */
export function maxRisk(risks: Iterable<RiskLevel>): RiskLevel {
  let highest = 0
  for (const risk of risks) highest = Math.max(highest, RISKS.indexOf(risk))
  return RISKS[highest]!
}

/** A number for sorting: the higher the risk, the higher. */
export function riskRank(risk: RiskLevel): number {
  return RISKS.indexOf(risk)
}

/** The categories whose section is neither a mapping nor a `${…}`; a config with one cannot be compared. */
export function invalidSections(root: ConfigObject): string[] {
  return CATEGORIES.filter((category) => {
    const section = root[category]
    return section !== undefined && section !== null && !isObject(section) && !isExpanded(section)
  })
}

/** Cut a config up: components, pipelines, and whatever else it holds, so that no edit goes unseen. */
export function cutUp(root: ConfigObject): ComparedConfig {
  const parts = new Map<string, ComparedPart>()
  const pipelines = new Map<string, ConfigValue>()
  const add = (category: string, id: string, settings: ConfigValue, path: string) => {
    parts.set(`${category}:${id}`, { key: `${category}:${id}`, category, id, settings, path })
  }
  for (const name of sortedKeys(root)) {
    const section = root[name]!
    if (name === 'service' && isObject(section)) {
      for (const key of sortedKeys(section)) {
        const value = section[key]!
        if (key !== 'pipelines' || !isObject(value)) {
          if (value !== null) add('service', key, value, `service.${key}`)
        } else for (const pipeline of sortedKeys(value)) pipelines.set(pipeline, value[pipeline]!)
      }
    } else if (isCategory(name) && isObject(section)) {
      for (const id of sortedKeys(section)) add(name, id, section[id]!, `${name}.${id}`)
    } else if (section !== null) add('service', name, section, name)
  }
  return { parts, pipelines }
}

function isCategory(name: string): name is Category {
  return (CATEGORIES as readonly string[]).includes(name)
}

/** A component as the API's answers name it, secrets in names masked. */
export function partRef({ category, id }: ComparedPart, path: string) {
  const slash = id.indexOf('/')
  return {
    category,
    id: redactName(id),
    type: componentType(id),
    ...(slash === -1 ? {} : { name: redactName(id.slice(slash + 1)) }),
    path: redactName(path),
  }
}

/** The ids of a pipeline's section; what is no text is left out. */
export function sectionIds(pipeline: ConfigValue | undefined, section: PipelineSection): string[] {
  const list = isObject(pipeline) ? pipeline[section] : undefined
  return Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : []
}
