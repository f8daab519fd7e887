import type { ConfigDiff, DiffComponent, DiffWord } from '../../wire/diff.ts'

const FIELDS_MAX = 40
const singular = (category: string) => category.replace(/s$/, '')

/** The share in percent that a sampler keeps, where it is a plain number; null for any other component. */
function shareOf({ component: { type }, after }: DiffComponent): number | null {
  if (type !== 'probabilistic_sampler' || typeof after !== 'object' || after === null) return null
  const share = (after as Record<string, unknown>)['sampling_percentage']
  return typeof share === 'number' ? share : null
}

/** Names, paths and addresses are cut there: whoever asks for a change chooses how long they are. */
const NAME_LENGTH_MAX = 160
const cut = (text: string, max = NAME_LENGTH_MAX): string =>
  text.length > max ? `${text.slice(0, max)}…` : text

function wordsOfComponent(component: DiffComponent): DiffWord[] {
  const name = cut(`${singular(component.component.category)} ${component.component.id}`)
  const { renamed_to: to } = component
  const addresses = (component.addresses ?? []).map((address) => cut(address))
  // One word for both of its ids.
  if (component.renamed_from !== undefined) return []
  if (to !== undefined) return [{ kind: 'renames', name, to: cut(to) }]
  if (component.kind === 'added' && addresses.length > 0)
    return [{ kind: 'addsDestination', name, addresses }]
  const percent = shareOf(component)
  const signals = [
    ...new Set(component.impacted_pipelines.map((pipeline) => cut(pipeline.split('/')[0] ?? ''))),
  ]
  if (component.kind === 'added' && percent !== null && signals.length > 0)
    return [{ kind: 'addsSampler', name, percent, signals }]
  if (component.kind === 'added') return [{ kind: 'addsComponent', name }]
  if (component.kind === 'removed') return [{ kind: 'removesComponent', name }]
  return component.changed_fields.slice(0, FIELDS_MAX).map(({ path, before, after }) => ({
    kind: 'changesField',
    path: cut(path),
    before: shownValue(before),
    after: shownValue(after),
  }))
}

const VALUE_LENGTH_MAX = 60
/** So much of a value is looked at, white space included, and no more of it is walked. */
const LOOKED_AT_MAX = 1_000

/** A value as people write it: settings with their names, lists by commas; empty for one that sets nothing. */
function inWords(value: unknown): string {
  if (value === null) return ''
  if (Array.isArray(value)) return joinSome(value, inWords)
  if (typeof value !== 'object') return String(value)
  return joinSome(Object.keys(value as object), (key) => {
    const of = (value as Record<string, unknown>)[key]
    const said = inWords(of)
    if (said === '') return key
    return typeof of === 'object' ? `${key} (${said})` : `${key}: ${said}`
  })
}

/** The first parts by commas, as many as are looked at. */
function joinSome<T>(parts: readonly T[], say: (part: T) => string): string {
  let text = ''
  for (const [at, part] of parts.entries()) {
    text += at === 0 ? say(part) : `, ${say(part)}`
    if (text.length > LOOKED_AT_MAX) break
  }
  return text
}

/** A value of the diff on one line; null where the field is not there. Secrets are masked by then. */
function shownValue(value: unknown): string | null {
  if (value === undefined) return null
  return cut(inWords(value).slice(0, LOOKED_AT_MAX).replace(/\s+/g, ' ').trim(), VALUE_LENGTH_MAX)
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

/** The first words about components. */
function wordsOfComponents(components: readonly DiffComponent[]): DiffWord[] {
  const words: DiffWord[] = []
  for (const component of components) {
    if (words.length >= FIELDS_MAX) break
    words.push(...wordsOfComponent(component))
  }
  return words.slice(0, FIELDS_MAX)
}

/** What a diff does, from its structure: names, paths and masked values, all cut where they are long. */
export function listDiffWords(diff: ConfigDiff): DiffWord[] {
  const words = wordsOfComponents(diff.components)
  for (const pipeline of diff.pipelines) {
    const name = cut(pipeline.pipeline_key)
    if (pipeline.kind === 'added') words.push({ kind: 'addsPipeline', name })
    else if (pipeline.kind === 'removed') words.push({ kind: 'removesPipeline', name })
    else {
      const changes = pipeline.component_ref_changes
      for (const { section, kind, component_id, is_renamed: isRenamed } of changes) {
        if (isRenamed) continue
        const id = cut(component_id)
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
    if (category === 'unchanged' && signal) words.push({ kind: 'keeps', signal: cut(signal) })
    if (category === 'signal' && signal) words.push({ kind: 'losesSignal', signal: cut(signal) })
  }
  return words.sort((a, b) => rankOf(a) - rankOf(b))
}
