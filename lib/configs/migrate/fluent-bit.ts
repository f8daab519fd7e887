import { isSecretKey } from '../redact/redact.ts'
import type { MigrationDraft } from './draft.ts'
import { lastValue, type Section, unquote } from './sections.ts'

/** Operations of the modify and record_modifier filters that put one fixed value on every record. */
const STATIC_OPERATIONS = ['add', 'set', 'record']
const NO_COUNTERPART = 'the setting has no counterpart in the draft'

/** Carry over Fluent Bit's classic configuration. */
export function migrateFluentBit(sections: readonly Section[], draft: MigrationDraft): void {
  const counters = { tail: 0 }
  for (const section of sections) {
    const kind = section.header.toUpperCase()
    const name = unquote(lastValue(section, 'name'))
    if (kind === 'INPUT') migrateInput(section, name.toLowerCase(), counters, draft)
    else if (kind === 'FILTER') migrateFilter(section, name, draft)
    else if (kind === 'OUTPUT') migrateOutput(name, draft)
    else draft.unsupported(`[${kind}]`, 'the section has no counterpart in the draft')
  }
}

function migrateInput(
  section: Section,
  name: string,
  counters: { tail: number },
  draft: MigrationDraft,
): void {
  const paths = unquote(lastValue(section, 'path'))
    .split(',')
    .map((path) => path.trim())
    .filter((path) => path !== '')
  if (name !== 'tail' || paths.length === 0) {
    draft.unsupported(`[INPUT] Name ${name}`, 'only tail inputs with a path are carried over')
    return
  }
  const include = paths.flatMap((path) => draft.copy(path, '[INPUT].path') ?? [])
  if (include.length === 0) return
  const id = `fluentbit_tail_${counters.tail++}`
  draft.map(
    'fluentbit.input.tail.path_to_filelog.include',
    '[INPUT].path',
    `receivers.filelog/${id}.include`,
    'The files are read by a filelog receiver.',
  )
  const isJson = unquote(lastValue(section, 'parser')).toLowerCase() === 'json'
  if (isJson) {
    draft.map(
      'fluentbit.input.parser_json.to_filelog.json_parser',
      '[INPUT].parser',
      `receivers.filelog/${id}.operators[0]`,
      'Each line is read as JSON.',
    )
  }
  draft.fileReceiver(id, include, { operators: isJson ? ['json_parser'] : [] })
  const carried = ['name', 'path', 'tag', ...(isJson ? ['parser'] : [])]
  for (const key of new Set(section.settings.map((setting) => setting.key))) {
    if (!carried.includes(key) && !isSecretKey(key)) draft.unsupported(`[INPUT].${key}`, NO_COUNTERPART)
  }
}

function migrateFilter(section: Section, name: string, draft: MigrationDraft): void {
  const kind = name.toLowerCase()
  if (kind === 'kubernetes') {
    const message = 'Use the k8sattributes processor to add what the kubernetes filter adds.'
    draft.warn('fluentbit_kubernetes_filter_partial', message, '[FILTER]')
  } else if (kind === 'modify' || kind === 'record_modifier') {
    for (const setting of section.settings) migrateOperation(setting, draft)
  } else {
    draft.unsupported(`[FILTER] Name ${name}`, 'the filter has no counterpart in the draft')
  }
}

/** Carry over an operation such as `Add key value`, where neither its key nor its value looks like a secret. */
function migrateOperation({ key, value }: { key: string; value: string }, draft: MigrationDraft): void {
  if (key === 'name' || key === 'match' || key === 'match_regex') return
  const path = `[FILTER].${key}`
  const operation = /^(\S+)\s+(.+)$/s.exec(value)
  if (isSecretKey(key)) {
    draft.redact(path)
  } else if (STATIC_OPERATIONS.includes(key) && operation) {
    const name = unquote(operation[1]!)
    draft.attribute(
      `muster.vendor.fluentbit.${name}`,
      unquote(operation[2]!),
      `${path}.${name}`,
      'fluentbit.filter.static_key.to_resource_attribute',
    )
  } else {
    draft.unsupported(path, 'the operation has no counterpart in the draft')
  }
}

function migrateOutput(name: string, draft: MigrationDraft): void {
  if (['opentelemetry', 'forward', 'http'].includes(name.toLowerCase())) {
    draft.explain(
      'fluentbit.output.to_otlp_exporter_hint',
      `[OUTPUT] Name ${name}`,
      'exporters.otlp',
      'The draft sends over OTLP; set its endpoint.',
    )
  } else {
    draft.unsupported(`[OUTPUT] Name ${name}`, 'the output has no counterpart in the draft')
  }
}
