import { compareText } from '../../model/text-order.ts'
import type { DiffComponent, DiffPipeline, DiffSummaryLine } from '../../wire/diff.ts'
import { isSecretKey, isSecretPath, MASK, redactName } from '../redact/redact.ts'
import { isSameValue } from '../yaml/equal.ts'
import { singular } from './components.ts'
import { type ComparedConfig, sectionIds } from './model.ts'
import { signalOf } from './pipelines.ts'

const NAMES: Readonly<Record<string, string>> = {
  loki: 'Loki',
  otlp: 'OTLP',
  otlphttp: 'OTLP HTTP',
  prometheus: 'Prometheus',
}

/** A change in words, one sentence a line, with the values before and after beside it, secrets masked. */
export function summarise(
  components: readonly DiffComponent[],
  pipelines: readonly DiffPipeline[],
  { base, target }: { base: ComparedConfig; target: ComparedConfig },
): DiffSummaryLine[] {
  const lines = new Map<string, DiffSummaryLine>()
  const add = (line: DiffSummaryLine) => {
    if (!lines.has(line.text)) lines.set(line.text, line)
  }
  for (const signal of lostSignals(base, target)) add(lostLine(signal))
  for (const component of components) for (const line of componentLines(component)) add(line)
  for (const pipeline of pipelines) for (const line of pipelineLines(pipeline)) add(line)
  if (pipelines.length > 0) {
    // A pipeline that names the same components is another one where the settings of one of them change.
    const touched = new Set(components.flatMap(({ impacted_pipelines }) => impacted_pipelines))
    for (const name of [...base.pipelines.keys()].sort(compareText)) {
      if (!target.pipelines.has(name) || !isSameValue(base.pipelines.get(name), target.pipelines.get(name)))
        continue
      const key = redactName(name)
      if (touched.has(key)) continue
      add({
        text: `Keeps ${shownPipeline(name)} unchanged`,
        category: 'unchanged',
        kind: 'unchanged',
        risk: 'none',
        pipeline_key: key,
        signal: signalOf(name),
      })
    }
  }
  return [...lines.values()]
}

/** The signals that some pipeline sends somewhere: what a connector takes goes on within the collector, as another signal. */
const sentSignals = ({ pipelines, parts }: ComparedConfig): ReadonlySet<string> =>
  new Set(
    [...pipelines].flatMap(([name, pipeline]) =>
      sectionIds(pipeline, 'exporters').some((id) => !parts.has(`connectors:${id}`)) ? [signalOf(name)] : [],
    ),
  )

/** The signals that were sent and are not any more: with the last exporter of one all of it is lost. */
function lostSignals(base: ComparedConfig, target: ComparedConfig): string[] {
  const kept = sentSignals(target)
  return [...sentSignals(base)]
    .filter((signal) => signal !== 'unknown' && !kept.has(signal))
    .sort(compareText)
}

const lostLine = (signal: string): DiffSummaryLine => ({
  text: `No pipeline sends ${signal} any more`,
  category: 'signal',
  kind: 'removed',
  risk: 'high',
  signal,
})

function componentLines(shown: DiffComponent): DiffSummaryLine[] {
  const { kind, component, risk, changed_fields, renamed_to, renamed_from } = shown
  const name = shownName(component.id)
  const about = { kind, component_id: component.id }
  // One line for both of its ids.
  if (renamed_from !== undefined) return []
  if (renamed_to !== undefined) {
    const text = `Renames ${name} ${singular(component.category)} to ${shownName(renamed_to)}`
    return [{ text, category: 'component', risk, ...about, kind: 'modified' }]
  }
  if (kind !== 'modified') {
    const verb = kind === 'added' ? 'Adds' : 'Removes'
    return [
      { text: `${verb} ${name} ${singular(component.category)}`, category: 'component', risk, ...about },
    ]
  }
  return changed_fields.map(({ path, risk: fieldRisk, before, after }) => ({
    text: `Changes ${name} ${shownField(path.slice(component.path.length))}`,
    category: 'field',
    risk: fieldRisk,
    path: hidePath(path),
    ...(before === undefined ? {} : { before: shownValue(before) }),
    ...(after === undefined ? {} : { after: shownValue(after) }),
    ...about,
  }))
}

function pipelineLines(pipeline: DiffPipeline): DiffSummaryLine[] {
  const { kind, pipeline_key, signal, component_ref_changes: changes } = pipeline
  const about = { pipeline_key, signal }
  // One line for a pipeline that was added or removed; components that came or went with it have lines of their own.
  if (kind === 'added')
    return [
      {
        text: `Adds ${shownPipeline(pipeline_key)} pipeline`,
        category: 'pipeline',
        kind,
        risk: 'low',
        ...about,
      },
    ]
  if (kind === 'removed')
    return [
      {
        text: `Removes ${shownPipeline(pipeline_key)} pipeline`,
        category: 'pipeline',
        kind,
        risk: 'high',
        ...about,
      },
    ]
  const lines: DiffSummaryLine[] = []
  for (const change of changes) {
    if (change.is_renamed === true) continue
    const rest = {
      category: 'pipeline',
      risk: change.risk,
      component_id: change.component_id,
      ...about,
    } as const
    if (change.section === 'exporters' && change.kind === 'added') {
      lines.push({
        text: `Routes ${signalName(pipeline)} to ${shownName(change.component_id)}`,
        kind: 'added',
        ...rest,
      })
    } else if (change.section === 'processors' && change.kind === 'moved') {
      lines.push({
        text: `Moves ${shownName(change.component_id)} processor in ${shownPipeline(pipeline_key)}`,
        kind: 'moved',
        ...rest,
      })
    }
  }
  return lines
}

function signalName({ signal, pipeline_key }: DiffPipeline): string {
  return signal === 'unknown' ? shownPipeline(pipeline_key) : signal
}

function shownPipeline(name: string): string {
  return isSecretKey(name) ? MASK : redactName(name)
}

function shownName(id: string): string {
  const name = id.slice(id.indexOf('/') + 1)
  return isSecretKey(name) ? MASK : (NAMES[name] ?? name)
}

function shownField(path: string): string {
  const keys = path.split('.').filter((key) => key !== '')
  if (isSecretPath(keys)) return 'sensitive setting'
  return (keys.at(-1) ?? 'settings').replaceAll('_', ' ')
}

const VALUE_LENGTH_MAX = 80

/** A masked value on one line, cut where it is long. */
function shownValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > VALUE_LENGTH_MAX ? `${line.slice(0, VALUE_LENGTH_MAX)}…` : line
}

function hidePath(path: string): string {
  return path
    .split('.')
    .map((key) => (isSecretKey(key) ? MASK : key))
    .join('.')
}
