import { idProblem, pipelineSignal } from './component-id.ts'
import { carriesSignal, SIGNALS, type Signal } from './component-signals.ts'
import { componentReferences, componentType, definitions, normalId } from './components.ts'
import { connectorFindings } from './connector-graph.ts'
import { type BadExpansion, checkExpansions } from './expansions.ts'
import type { ParsedConfig } from './parse.ts'
import {
  CATEGORIES,
  type Category,
  type ConfigObject,
  type ConfigValue,
  isExpanded,
  isObject,
  sortedKeys,
} from './value.ts'

/** Something that the collector would refuse (error) or that is likely wrong (warning). */
export interface StructureFinding {
  code: string
  severity: 'warning' | 'error'
  message: string
  path?: string
}

/** What the structure check found, with the figures that a validation result shows. */
export interface StructureReport {
  findings: StructureFinding[]
  definedComponents: Record<string, number>
  /** Sorted names; null when the config has no pipelines. */
  pipelines: string[] | null
  componentRefsChecked: number
}

const SERVICE_KEYS = new Set(['telemetry', 'extensions', 'pipelines'])
const PIPELINE_SECTIONS = ['receivers', 'processors', 'exporters'] as const
type PipelineSection = (typeof PIPELINE_SECTIONS)[number]
const SINGULAR = { receivers: 'receiver', processors: 'processor', exporters: 'exporter' } as const

/** Check a config the way the collector does before it starts, without any component's own settings. */
export function checkStructure(config: ParsedConfig): StructureReport {
  const check = new StructureCheck(config)
  return check.run()
}

class StructureCheck {
  readonly #root: ConfigObject
  readonly #config: ParsedConfig
  readonly #findings: StructureFinding[] = []
  readonly #defined: Readonly<Record<Category, ReadonlySet<string>>>

  constructor(config: ParsedConfig) {
    this.#config = config
    this.#root = config.root
    this.#defined = definitions(config.root)
  }

  run(): StructureReport {
    this.#topLevel()
    this.#definitions()
    const pipelines = this.#service()
    if (pipelines) {
      const seen = new Set<string>()
      for (const name of sortedKeys(pipelines)) {
        const id = normalId(name)
        if (seen.has(id))
          this.#error('duplicate_pipeline', `pipeline "${id}" is defined twice`, `service.pipelines.${name}`)
        seen.add(id)
        this.#pipeline(name, pipelines[name]!)
      }
      this.#findings.push(...connectorFindings(this.#root, pipelines))
    }
    this.#extensions()
    this.#expansions(this.#root, '')
    return {
      findings: this.#findings,
      definedComponents: Object.fromEntries(
        CATEGORIES.map((category) => [category, this.#defined[category].size]),
      ),
      pipelines: pipelines ? sortedKeys(pipelines) : null,
      componentRefsChecked: pipelines ? componentReferences(this.#config).length : 0,
    }
  }

  #error(code: string, message: string, path?: string): void {
    this.#findings.push({ code, severity: 'error', message, ...(path === undefined ? {} : { path }) })
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
      const isEmpty =
        section === undefined || section === null || (isObject(section) && isEmptyObject(section))
      if (isEmpty && (category === 'receivers' || category === 'exporters')) {
        this.#error(
          'missing_section',
          `'${category}' must define at least one ${SINGULAR[category]}`,
          category,
        )
      }
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

  /** The pipelines; null when there are none to look at. */
  #service(): ConfigObject | null {
    const service = this.#root['service']
    if (isExpanded(service)) return null
    if (!isObject(service)) {
      if (service === undefined || service === null) {
        this.#error('missing_service', "'service' section is required", 'service')
      } else this.#error('invalid_section', "'service' is not a mapping", 'service')
      return null
    }
    for (const key of sortedKeys(service)) {
      if (!SERVICE_KEYS.has(key))
        this.#error('unknown_section', `'service' has no setting '${key}'`, `service.${key}`)
    }
    this.#telemetry(service['telemetry'])
    const pipelines = service['pipelines']
    if (isExpanded(pipelines)) return null
    if (isObject(pipelines) && !isEmptyObject(pipelines)) return pipelines
    this.#error(
      'missing_pipelines',
      "'service.pipelines' must define at least one pipeline",
      'service.pipelines',
    )
    return null
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

  #pipeline(name: string, pipeline: ConfigValue): void {
    const path = `service.pipelines.${name}`
    const id = pipelineSignal(name)
    if ('problem' in id) {
      this.#error('invalid_pipeline_id', `the pipeline id "${name}" is not valid: ${id.problem}`, path)
    } else this.#signal(name, id.signal, path)
    if (isExpanded(pipeline)) return
    if (pipeline !== null && !isObject(pipeline)) {
      this.#error('invalid_pipeline', `pipeline "${name}" is not an object`, path)
      return
    }
    const sections = pipeline ?? {}
    for (const key of sortedKeys(sections)) {
      if ((PIPELINE_SECTIONS as readonly string[]).includes(key)) continue
      this.#error('unknown_section', `pipeline "${name}" has no setting '${key}'`, `${path}.${key}`)
    }
    for (const section of ['receivers', 'exporters'] as const) {
      const list = (sections as ConfigObject)[section]
      const isMissing = list === undefined || list === null || (Array.isArray(list) && list.length === 0)
      if (isMissing) {
        this.#error(
          'missing_pipeline_section',
          `pipeline "${name}" is missing '${section}'`,
          `${path}.${section}`,
        )
      }
    }
    const signal = 'signal' in id ? id.signal : ''
    for (const section of PIPELINE_SECTIONS)
      this.#references(name, section, (sections as ConfigObject)[section], signal)
  }

  #signal(name: string, signal: string, path: string): void {
    if ((SIGNALS as readonly string[]).includes(signal)) return
    if (signal === 'profiles') {
      this.#findings.push({
        code: 'experimental_signal',
        severity: 'warning',
        message: `pipeline "${name}" needs the collector's feature gate service.profilesSupport`,
        path,
      })
      return
    }
    this.#error('invalid_pipeline_signal', `pipeline "${name}" has the unknown signal "${signal}"`, path)
  }

  #references(
    pipeline: string,
    section: PipelineSection,
    list: ConfigValue | undefined,
    signal: string,
  ): void {
    if (list === undefined || list === null || isExpanded(list)) return
    const path = `service.pipelines.${pipeline}.${section}`
    if (!Array.isArray(list)) {
      this.#error('invalid_section', `'${section}' of pipeline "${pipeline}" is not a list`, path)
      return
    }
    const seen = new Set<string>()
    list.forEach((entry, index) => {
      const at = `${path}[${index}]`
      if (isExpanded(entry)) return
      if (typeof entry !== 'string') {
        this.#error(
          'invalid_reference',
          `'${section}' of pipeline "${pipeline}" holds an entry that is no id`,
          at,
        )
        return
      }
      const id = normalId(entry)
      if (section === 'processors' && seen.has(id)) {
        this.#error(
          'duplicate_processor',
          `pipeline "${pipeline}" references processor "${id}" multiple times`,
          at,
        )
      }
      seen.add(id)
      this.#reference(pipeline, section, id, signal, at)
    })
  }

  #reference(pipeline: string, section: PipelineSection, id: string, signal: string, path: string): void {
    const problem = idProblem(id)
    if (problem) {
      this.#error(
        'invalid_component_id',
        `pipeline "${pipeline}" references the id "${id}": ${problem}`,
        path,
      )
      return
    }
    const singular = SINGULAR[section]
    if (this.#defined[section].has(id)) {
      const isCarried = !isSignal(signal) || carriesSignal(section, componentType(id), signal)
      if (isCarried) return
      const message = `${singular} "${id}" of pipeline "${pipeline}" does not support ${signal}`
      this.#error('unsupported_signal', message, path)
      return
    }
    if (section !== 'processors' && this.#defined.connectors.has(id)) return
    if (isExpanded(this.#root[section])) return
    if (section !== 'processors' && isExpanded(this.#root['connectors'])) return
    const message = `pipeline "${pipeline}" references ${singular} "${id}" which is not defined under top-level '${section}'`
    this.#error('undefined_component', message, path)
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

  #expansions(value: ConfigValue, path: string): void {
    if (typeof value === 'string') {
      if (!isExpanded(value)) return
      for (const bad of checkExpansions(value).bad) {
        const finding = expansionFinding(bad)
        this.#findings.push({ ...finding, path })
      }
    } else if (Array.isArray(value)) {
      value.forEach((entry, index) => {
        this.#expansions(entry, `${path}[${index}]`)
      })
    } else if (isObject(value)) {
      for (const key of sortedKeys(value)) this.#expansions(value[key]!, path === '' ? key : `${path}.${key}`)
    }
  }
}

function isEmptyObject(object: ConfigObject): boolean {
  return Object.keys(object).length === 0
}

function isSignal(signal: string): signal is Signal {
  return (SIGNALS as readonly string[]).includes(signal)
}

function expansionFinding({ reason, name }: BadExpansion): StructureFinding {
  // A name of other characters is no name, and may be anything.
  const named = /^[\w.+-]+…?$/.test(name) ? ` "${name}"` : ''
  if (reason === 'unknown-provider' && /[a-z]/.test(name)) {
    const message = `the provider${named} is not one that collectors are known to have`
    return { code: 'unknown_provider', severity: 'warning', message }
  }
  const message =
    reason === 'default-without-env'
      ? `a default value needs the provider to be named: \${env:NAME:-default}, not \${NAME:-default}`
      : reason === 'invalid-variable-name'
        ? `\${…} names the environment variable${named}, which is no valid name; write $$ for a literal dollar`
        : `\${…} holds no valid reference${named}`
  return { code: 'invalid_expansion', severity: 'error', message }
}
