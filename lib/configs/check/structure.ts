import { CATEGORIES } from '../../wire/values.ts'
import type { ParsedConfig } from '../yaml/parse.ts'
import {
  type Category,
  type ConfigObject,
  type ConfigValue,
  isExpanded,
  isObject,
  sortedKeys,
} from '../yaml/value.ts'
import { idProblem } from './component-id.ts'
import { componentReferences, definitions, normalId } from './components.ts'
import { connectorFindings } from './connector-graph.ts'
import { endpointFindings } from './endpoint-findings.ts'
import { expansionFindings } from './expansion-findings.ts'
import { pipelineFindings } from './pipeline-structure.ts'
import { SINGULAR, type StructureFinding, structureError } from './structure-finding.ts'

/** What the structure check found, with the figures that a validation result shows. */
export interface StructureReport {
  findings: StructureFinding[]
  definedComponents: Record<string, number>
  /** Sorted names; null when the config has no pipelines. */
  pipelines: string[] | null
  componentRefsChecked: number
}

const SERVICE_KEYS = new Set(['telemetry', 'extensions', 'pipelines'])

/** Check a config the way the collector does before it starts, without any component's own settings. */
export function checkStructure(config: ParsedConfig, target: { hasProfilesGate: boolean }): StructureReport {
  const check = new StructureCheck(config, target)
  return check.run()
}

class StructureCheck {
  readonly #root: ConfigObject
  readonly #config: ParsedConfig
  readonly #target: { hasProfilesGate: boolean }
  readonly #findings: StructureFinding[] = []
  readonly #defined: Readonly<Record<Category, ReadonlySet<string>>>

  constructor(config: ParsedConfig, target: { hasProfilesGate: boolean }) {
    this.#config = config
    this.#target = target
    this.#root = config.root
    this.#defined = definitions(config.root)
  }

  run(): StructureReport {
    // The findings that clients already know come first. A config without pipelines gets none about its pipelines, nor
    // about the empty sections that a pipeline would need.
    const service = this.#service()
    const pipelines = isObject(service) ? service : null
    if (pipelines)
      this.#findings.push(...pipelineFindings(this.#root, this.#defined, pipelines, this.#target))
    this.#extensions()
    this.#topLevel()
    this.#definitions()
    if (service !== 'missing') this.#emptySections()
    if (pipelines) this.#findings.push(...connectorFindings(this.#root, pipelines))
    this.#findings.push(...expansionFindings(this.#root), ...endpointFindings(this.#root))
    return {
      findings: this.#findings,
      definedComponents: Object.fromEntries(
        CATEGORIES.map((category) => [category, this.#defined[category].size]),
      ),
      pipelines: pipelines ? sortedKeys(pipelines) : null,
      componentRefsChecked: pipelines ? componentReferences(this.#config).length : 0,
    }
  }

  #error(code: string, message: string, path: string): void {
    this.#findings.push(structureError(code, message, path))
  }

  #topLevel(): void {
    for (const key of sortedKeys(this.#root)) {
      if (key === 'service' || (CATEGORIES as readonly string[]).includes(key)) continue
      this.#error('unknown_section', `'${key}' is not a section of a collector config`, key)
    }
  }

  #definitions(): void {
    for (const category of CATEGORIES) {
      const section = this.#root[category]
      if (isObject(section)) this.#definedIds(category, section)
      else if (section !== undefined && section !== null && !isExpanded(section)) {
        this.#error('invalid_section', `'${category}' is not a mapping`, category)
      }
    }
  }

  #emptySections(): void {
    for (const category of ['receivers', 'exporters'] as const) {
      const section = this.#root[category]
      const isEmpty =
        section === undefined || section === null || (isObject(section) && isEmptyObject(section))
      if (!isEmpty) continue
      const message = `'${category}' must define at least one ${SINGULAR[category]}`
      this.#error('missing_section', message, category)
    }
  }

  #definedIds(category: string, section: ConfigObject): void {
    const seen = new Set<string>()
    for (const id of sortedKeys(section)) {
      const path = `${category}.${id}`
      const problem = idProblem(id)
      if (problem)
        this.#error('invalid_component_id', `'${category}' defines the id "${id}": ${problem}`, path)
      const normal = normalId(id)
      if (seen.has(normal))
        this.#error('duplicate_component', `'${category}' defines "${normal}" twice`, path)
      seen.add(normal)
      const body = section[id]!
      if (body !== null && !isObject(body) && !isExpanded(body)) {
        this.#error('invalid_component', `the settings of "${id}" are not a mapping`, path)
      }
    }
    if (category !== 'connectors') return
    for (const other of ['exporters', 'receivers'] as const) {
      const defined = this.#defined[other]
      for (const id of [...seen].sort()) {
        if (!defined.has(id)) continue
        const message = `"${id}" is defined both as connector and as ${SINGULAR[other]}; rename one of them`
        this.#error('ambiguous_component', message, `connectors.${id}`)
      }
    }
  }

  /** Check `service`: its pipelines, `missing` where it has none, `unknown` where a `${…}` stands for them. */
  #service(): ConfigObject | 'missing' | 'unknown' {
    const service = this.#root['service']
    if (isExpanded(service)) return 'unknown'
    if (!isObject(service)) {
      if (service === undefined || service === null) {
        this.#error('missing_service', "'service' section is required", 'service')
      } else this.#error('invalid_section', "'service' is not a mapping", 'service')
      return 'missing'
    }
    for (const key of sortedKeys(service)) {
      if (!SERVICE_KEYS.has(key))
        this.#error('unknown_section', `'service' has no setting '${key}'`, `service.${key}`)
    }
    this.#telemetry(service['telemetry'])
    const pipelines = service['pipelines']
    if (isExpanded(pipelines)) return 'unknown'
    if (isObject(pipelines) && !isEmptyObject(pipelines)) return pipelines
    this.#error(
      'missing_pipelines',
      "'service.pipelines' must define at least one pipeline",
      'service.pipelines',
    )
    return 'missing'
  }

  #telemetry(telemetry: ConfigValue | undefined): void {
    if (telemetry === undefined || telemetry === null || isExpanded(telemetry)) return
    if (!isObject(telemetry)) {
      this.#error('invalid_section', "'service.telemetry' is not a mapping", 'service.telemetry')
      return
    }
    const metrics = telemetry['metrics']
    if (!isObject(metrics) || !('address' in metrics)) return
    this.#findings.push({
      code: 'removed_setting',
      severity: 'warning',
      message: "'service.telemetry.metrics.address' was removed in collector 0.123; use 'readers' instead",
      path: 'service.telemetry.metrics.address',
    })
  }

  #extensions(): void {
    const service = this.#root['service']
    const list = isObject(service) ? service['extensions'] : undefined
    if (list === undefined || list === null || isExpanded(list)) return
    if (!Array.isArray(list)) {
      this.#error('invalid_section', "'service.extensions' is not a list", 'service.extensions')
      return
    }
    const defined = this.#defined.extensions
    list.forEach((entry, index) => {
      const path = `service.extensions[${index}]`
      if (isExpanded(entry)) return
      if (typeof entry !== 'string') {
        this.#error('invalid_reference', "'service.extensions' holds an entry that is no id", path)
        return
      }
      const id = normalId(entry)
      const problem = idProblem(id)
      if (problem)
        this.#error('invalid_component_id', `service.extensions holds the id "${id}": ${problem}`, path)
      else if (!defined.has(id) && !isExpanded(this.#root['extensions'])) {
        const message = `service.extensions references "${id}" which is not defined under top-level 'extensions'`
        this.#error('undefined_component', message, path)
      }
    })
  }
}

function isEmptyObject(object: ConfigObject): boolean {
  return Object.keys(object).length === 0
}
