import type { ConfigDiff, DiffComponent, DiffWord } from '../../wire/diff.ts'

const FIELDS_MAX = 40
const singular = (category: string) => category.replace(/s$/, '')

/** The share in percent that a sampler keeps, where it is a plain number; null for any other component. */
function shareOf({ component: { type }, after }: DiffComponent): number | null {
  if (type !== 'probabilistic_sampler' || typeof after !== 'object' || after === null) return null
  const share = (after as Record<string, unknown>)['sampling_percentage']
  return typeof share === 'number' ? share : null
}

function wordsOfComponent(component: DiffComponent): DiffWord[] {
  const name = `${singular(component.component.category)} ${component.component.id}`
  const { addresses = [], renamed_to: to } = component
  // One word for both of its ids.
  if (component.renamed_from !== undefined) return []
  if (to !== undefined) return [{ kind: 'renames', name, to }]
  if (component.kind === 'added' && addresses.length > 0)
    return [{ kind: 'addsDestination', name, addresses }]
  const percent = shareOf(component)
  const signals = [...new Set(component.impacted_pipelines.map((pipeline) => pipeline.split('/')[0] ?? ''))]
  if (component.kind === 'added' && percent !== null && signals.length > 0)
    return [{ kind: 'addsSampler', name, percent, signals }]
  if (component.kind === 'added') return [{ kind: 'addsComponent', name }]
  if (component.kind === 'removed') return [{ kind: 'removesComponent', name }]
  return component.changed_fields.map(({ path, before, after }) => ({
    kind: 'changesField',
    path,
    before: shownValue(before),
    after: shownValue(after),
  }))
}

const VALUE_LENGTH_MAX = 60

/** A value as people write it: settings with their names, lists by commas; empty for one that sets nothing. */
function inWords(value: unknown): string {
  if (value === null) return ''
  if (Array.isArray(value)) return value.map(inWords).join(', ')
  if (typeof value !== 'object') return String(value)
  const parts = Object.entries(value as object).map(([key, of]) => {
    const said = inWords(of)
    if (said === '') return key
    return typeof of === 'object' ? `${key} (${said})` : `${key}: ${said}`
  })
  return parts.join(', ')
}

/** A value of the diff on one line; null where the field is not there. Secrets come masked from the server. */
function shownValue(value: unknown): string | null {
  if (value === undefined) return null
  const text = inWords(value).replace(/\s+/g, ' ').trim()
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text
}

/** What a reviewer looks for first stands first: where data goes, what is lost, then all else; what stays is last. */
function rankOf(word: DiffWord): number {
  switch (word.kind) {
    case 'losesSignal':
      return -1
    case 'addsDestination':
    case 'addsSampler':
      return 0
    case 'routes':
    case 'unroutes':
      return 1
    case 'changesField':
      return word.path.startsWith('exporters.') ? 2 : 5
    case 'removesPipeline':
    case 'removesComponent':
      return 3
    case 'keeps':
      return 6
    default:
      return 4
  }
}

/** What a diff does, from its structure: names, paths and masked values. */
export function listDiffWords(diff: ConfigDiff): DiffWord[] {
  const words: DiffWord[] = diff.components.flatMap(wordsOfComponent).slice(0, FIELDS_MAX)
  for (const pipeline of diff.pipelines) {
    const name = pipeline.pipeline_key
    if (pipeline.kind === 'added') words.push({ kind: 'addsPipeline', name })
    else if (pipeline.kind === 'removed') words.push({ kind: 'removesPipeline', name })
    else {
      const changes = pipeline.component_ref_changes
      for (const { section, kind, component_id: id, is_renamed: isRenamed } of changes) {
        if (isRenamed) continue
        if (section === 'exporters' && kind === 'added')
          words.push({ kind: 'routes', signal: name, name: id })
        if (section === 'exporters' && kind === 'removed')
          words.push({ kind: 'unroutes', signal: name, name: id })
        if (section !== 'exporters' && kind === 'added')
          words.push({ kind: 'addsComponent', name: `${id} → ${name}` })
        if (section !== 'exporters' && kind === 'removed')
          words.push({ kind: 'removesComponent', name: `${id} ← ${name}` })
      }
      if (changes.some(({ kind }) => kind === 'moved')) words.push({ kind: 'reorders', name })
    }
  }
  for (const { category, signal } of diff.human_summary) {
    if (category === 'unchanged' && signal) words.push({ kind: 'keeps', signal })
    if (category === 'signal' && signal) words.push({ kind: 'losesSignal', signal })
  }
  return words.sort((a, b) => rankOf(a) - rankOf(b))
}
