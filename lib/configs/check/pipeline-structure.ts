import { PIPELINE_SECTIONS } from '../../wire/values.ts'
import {
  type Category,
  type ConfigObject,
  type ConfigValue,
  isExpanded,
  isObject,
  type PipelineSection,
  sortedKeys,
} from '../yaml/value.ts'
import { idProblem, pipelineSignal } from './component-id.ts'
import { carriesSignal, SIGNALS, type Signal } from './component-signals.ts'
import { componentType, normalId } from './components.ts'
import { SINGULAR, type StructureFinding, structureError } from './structure-finding.ts'

/** Check every pipeline by itself: its id, its lists, and that what they name is defined and fits. */
export function pipelineFindings(
  root: ConfigObject,
  defined: Readonly<Record<Category, ReadonlySet<string>>>,
  pipelines: ConfigObject,
  target: { hasProfilesGate: boolean },
): StructureFinding[] {
  return new PipelineCheck(root, defined, target).run(pipelines)
}

class PipelineCheck {
  readonly #root: ConfigObject
  readonly #defined: Readonly<Record<Category, ReadonlySet<string>>>
  readonly #hasProfilesGate: boolean
  readonly #findings: StructureFinding[] = []

  constructor(
    root: ConfigObject,
    defined: Readonly<Record<Category, ReadonlySet<string>>>,
    target: { hasProfilesGate: boolean },
  ) {
    this.#root = root
    this.#defined = defined
    this.#hasProfilesGate = target.hasProfilesGate
  }

  run(pipelines: ConfigObject): StructureFinding[] {
    const seen = new Set<string>()
    for (const name of sortedKeys(pipelines)) {
      const id = normalId(name)
      if (seen.has(id)) {
        this.#error('duplicate_pipeline', `pipeline "${id}" is defined twice`, `service.pipelines.${name}`)
      }
      seen.add(id)
      this.#pipeline(name, pipelines[name]!)
    }
    return this.#findings
  }

  #error(code: string, message: string, path: string): void {
    this.#findings.push(structureError(code, message, path))
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
      const message = `pipeline "${name}" needs the collector's feature gate service.profilesSupport`
      if (this.#hasProfilesGate)
        this.#findings.push({ code: 'experimental_signal', severity: 'warning', message, path })
      else this.#error('feature_gate_required', `${message}, which no instance is known to have`, path)
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
}

function isSignal(signal: string): signal is Signal {
  return (SIGNALS as readonly string[]).includes(signal)
}
