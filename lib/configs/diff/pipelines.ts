import { compareText } from '../../model/text-order.ts'
import type { DiffPipeline, DiffPipelineShape } from '../../wire/diff.ts'
import { PIPELINE_SECTIONS } from '../../wire/values.ts'
import { redactName } from '../redact/redact.ts'
import { isSameValue } from '../yaml/equal.ts'
import { type ConfigValue, isObject, type PipelineSection, sortedKeys } from '../yaml/value.ts'
import { guardRule } from './guards.ts'
import { type ComparedConfig, maxRisk, sectionIds } from './model.ts'
import type { Renamings } from './renamings.ts'
import { ruleRisk } from './rules.ts'

type RefChange = DiffPipeline['component_ref_changes'][number]

const SIGNALS = new Set(['traces', 'metrics', 'logs', 'profiles'])

/** The signal that a pipeline's name starts with; `unknown` when it starts with none. */
export function signalOf(pipeline: string): string {
  const signal = pipeline.split('/', 1)[0]!.trim()
  return SIGNALS.has(signal) ? signal : 'unknown'
}

/** Compare all pipelines; sorted by name, equal ones left out. */
export function diffPipelines(
  base: ComparedConfig,
  target: ComparedConfig,
  renamings: Pick<Renamings, 'to'>,
): DiffPipeline[] {
  const names = [...new Set([...base.pipelines.keys(), ...target.pipelines.keys()])].sort(compareText)
  return names.flatMap((name) => {
    const before = base.pipelines.get(name)
    const after = target.pipelines.get(name)
    if (before !== undefined && after !== undefined)
      return modified(name, before, after, { base, ...renamings })
    const isAdded = after !== undefined
    return [
      {
        ...head(name),
        kind: isAdded ? ('added' as const) : ('removed' as const),
        risk: isAdded ? ('low' as const) : ('high' as const),
        ...(isAdded ? { after: shape(after) } : { before: shape(before) }),
        component_ref_changes: [],
        rules: isAdded ? [] : ['pipeline_removed'],
      },
    ]
  })
}

function head(name: string) {
  return { id: `pipeline:${redactName(name)}`, pipeline_key: redactName(name), signal: signalOf(name) }
}

function shape(pipeline: ConfigValue | undefined): DiffPipelineShape {
  const ids = (section: PipelineSection) => sectionIds(pipeline, section).map(redactName)
  return { receivers: ids('receivers'), processors: ids('processors'), exporters: ids('exporters') }
}

/** What is known of the components that the pipelines of the base name. */
interface Known extends Pick<Renamings, 'to'> {
  base: ComparedConfig
}

function modified(name: string, before: ConfigValue, after: ConfigValue, known: Known): DiffPipeline[] {
  if (isSameValue(plain(before), plain(after))) return []
  const changes = PIPELINE_SECTIONS.flatMap((section) => refChanges(before, after, section, known))
  const isBroken = (['receivers', 'exporters'] as const).some((section) => lost(before, after, section))
  const rules = isBroken ? ['pipeline_broken'] : []
  const risk = maxRisk([
    'low',
    ...(isBroken ? (['high'] as const) : []),
    ...changes.map((change) => change.risk),
  ])
  return [
    {
      ...head(name),
      kind: 'modified',
      risk,
      before: shape(before),
      after: shape(after),
      component_ref_changes: changes,
      rules,
    },
  ]
}

/** An absent list and an empty one mean the same. */
function plain(pipeline: ConfigValue): ConfigValue {
  if (pipeline === null) return {}
  if (!isObject(pipeline)) return pipeline
  const kept = sortedKeys(pipeline).filter((key) => {
    const value = pipeline[key]
    return value !== null && !(Array.isArray(value) && value.length === 0)
  })
  return Object.fromEntries(kept.map((key) => [key, pipeline[key]!]))
}

/** Whether a pipeline has nothing left of a section that it cannot do without. */
export function lost(
  before: ConfigValue | undefined,
  after: ConfigValue | undefined,
  section: PipelineSection,
): boolean {
  const list = isObject(after) ? after[section] : undefined
  const isKnownAtStart = typeof list === 'string'
  return !isKnownAtStart && sectionIds(after, section).length === 0 && sectionIds(before, section).length > 0
}

function refChanges(
  before: ConfigValue,
  after: ConfigValue,
  section: PipelineSection,
  known: Known,
): RefChange[] {
  const ids = sectionIds(before, section)
  const renamed = new Map(
    [...new Set(ids)].flatMap((id) => {
      const to = idAfter(known, section, id)
      return to === null ? [] : [[id, to] as const]
    }),
  )
  const left = occurrences(ids.map((id) => renamed.get(id) ?? id))
  const right = occurrences(sectionIds(after, section))
  const changes: RefChange[] = []
  for (const [key, { id, index }] of left) {
    if (!right.has(key)) {
      changes.push(removedRef(section, id, index, lost(before, after, section), known.base))
    }
  }
  for (const [key, { id, index }] of right) {
    if (left.has(key)) continue
    const risk = section === 'receivers' ? 'medium' : 'low'
    changes.push({ section, component_id: redactName(id), kind: 'added', to_index: index, risk })
  }
  changes.push(...movedRefs(section, left, right))
  for (const [id, to] of renamed) {
    const indexes = { from_index: ids.indexOf(id), to_index: sectionIds(after, section).indexOf(to) }
    changes.push(...renamedRefs(section, { id: redactName(id), to: redactName(to) }, indexes))
  }
  return changes.sort(
    (a, b) =>
      compareText(a.component_id, b.component_id) || compareText(a.kind, b.kind) || indexOf(a) - indexOf(b),
  )
}

/** Under which id a component is named that only got another one; null for any other. */
function idAfter({ base, to }: Known, section: PipelineSection, id: string): string | null {
  const isConnector = section !== 'processors' && base.parts.has(`connectors:${id}`)
  const category = isConnector ? 'connectors' : section
  const key = to.get(`${category}:${id}`)
  return key === undefined ? null : key.slice(category.length + 1)
}

/** The id that is gone and the one in its place: neither changes what the pipeline does. */
const renamedRefs = (
  section: PipelineSection,
  { id, to }: { id: string; to: string },
  { from_index, to_index }: { from_index: number; to_index: number },
): RefChange[] => [
  { section, component_id: id, kind: 'removed', from_index, risk: 'low', is_renamed: true },
  { section, component_id: to, kind: 'added', to_index, risk: 'low', is_renamed: true },
]

const indexOf = (change: RefChange) => change.from_index ?? change.to_index ?? 0

function removedRef(
  section: PipelineSection,
  id: string,
  index: number,
  isLast: boolean,
  base: ComparedConfig,
): RefChange {
  const common = { section, component_id: redactName(id), kind: 'removed' as const, from_index: index }
  if (section === 'exporters') {
    return isLast
      ? { ...common, risk: ruleRisk('pipeline_broken'), reason: 'pipeline_broken' }
      : {
          ...common,
          risk: ruleRisk('pipeline_exporter_set_changed'),
          reason: 'pipeline_exporter_set_changed',
        }
  }
  const guard = section === 'processors' ? guardRule(id, base.parts.get(`processors:${id}`)?.settings) : null
  return guard ? { ...common, risk: ruleRisk(guard), reason: guard } : { ...common, risk: 'medium' }
}

type Occurrences = Map<string, { id: string; index: number }>

/** Each place of a list under a key of its own, so that a second mention of an id counts as well. */
function occurrences(ids: readonly string[]): Occurrences {
  const seen = new Map<string, number>()
  const result: Occurrences = new Map()
  ids.forEach((id, index) => {
    const count = (seen.get(id) ?? 0) + 1
    seen.set(id, count)
    result.set(`${count}:${id}`, { id, index })
  })
  return result
}

/** The fewest entries whose change of place explains the new order of what both lists have. */
function movedRefs(section: PipelineSection, left: Occurrences, right: Occurrences): RefChange[] {
  const common = [...left.keys()].filter((key) => right.has(key))
  const kept = longestRun(common.map((key) => right.get(key)!.index))
  return common.flatMap((key, place): RefChange[] => {
    if (kept.has(place)) return []
    const { id, index } = left.get(key)!
    const moved = {
      section,
      component_id: redactName(id),
      kind: 'moved' as const,
      from_index: index,
      to_index: right.get(key)!.index,
    }
    // Data passes processors one after the other; the order of receivers and of exporters means nothing.
    return [
      section === 'processors'
        ? { ...moved, risk: ruleRisk('processor_order_changed'), reason: 'processor_order_changed' }
        : { ...moved, risk: 'low' },
    ]
  })
}

/** Places of a longest increasing subsequence. */
function longestRun(values: readonly number[]): Set<number> {
  const tails: number[] = []
  const previous: number[] = []
  values.forEach((value, place) => {
    let low = 0
    let high = tails.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (values[tails[middle]!]! < value) low = middle + 1
      else high = middle
    }
    previous[place] = low > 0 ? tails[low - 1]! : -1
    tails[low] = place
  })
  const places = new Set<number>()
  for (let place = tails.at(-1) ?? -1; place !== -1; place = previous[place]!) places.add(place)
  return places
}
