import { TRUSTED_PREFIX } from '../../../lib/model/labels.ts'
import { nameOf } from '../../../lib/model/workload-names.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { language } from '../i18n/define.ts'
import { describeReason, describeTrouble } from '../i18n/trouble.ts'
import { clusterOf, configStateOf, environmentOf, placeOf, statusOf, versionsOf } from './workloads.ts'

/** One word of a search: free text, or `key:value`; a leading `-` takes away. */
export interface SearchTerm {
  key: string | null
  value: string
  isNegated: boolean
}

/** The words of a search as they were typed. Quotes keep blanks together. */
export const splitSearch = (text: string): string[] => text.match(/-?(?:[^\s"]*"[^"]*"?|[^\s"]+)/g) ?? []

/** A search without one of its words. */
export const withoutWord = (text: string, at: number): string =>
  splitSearch(text)
    .filter((_, index) => index !== at)
    .join(' ')

/** Read `env:prod "two words" -status:connected`. Quotes keep blanks together. */
export function parseSearch(text: string): SearchTerm[] {
  return splitSearch(text).flatMap((word) => {
    const isNegated = word.length > 1 && word.startsWith('-')
    const bare = isNegated ? word.slice(1) : word
    const match = /^([\w./-]+):(.+)$/s.exec(bare)
    const value = (match?.[2] ?? bare).replaceAll('"', '').toLowerCase()
    return value === '' ? [] : [{ key: match?.[1]?.toLowerCase() ?? null, value, isNegated }]
  })
}

/**
 * What is wrong, for searching: the words on the page, and the codes and the English title as well, since somebody who pages
 * may quote them. `push_failed` is found as "failed", a halted rollout as "halted".
 */
function whyOf(workload: WorkloadRecord): string {
  const { trouble } = workload
  if (!trouble) return ''
  return [
    describeTrouble(trouble),
    describeReason(trouble),
    trouble.kind.replaceAll('_', ' '),
    trouble.error_cause?.replaceAll('_', ' '),
    trouble.error_title,
    trouble.component,
    ...Object.values(trouble.error_parameters ?? {}),
  ]
    .filter(Boolean)
    .join('\n')
    .replaceAll('\u00a0', ' ')
}

const FIELDS: Record<string, (workload: WorkloadRecord) => string> = {
  name: nameOf,
  status: statusOf,
  type: (w) => w.type,
  env: environmentOf,
  environment: environmentOf,
  cluster: clusterOf,
  namespace: placeOf,
  host: placeOf,
  config: (w) => `${w.active_config_hash ?? ''} ${configStateOf(w)}`,
  id: (w) => w.id,
  why: whyOf,
}

function valuesOf(workload: WorkloadRecord, key: string): string[] {
  const values = FIELDS[key] ? [FIELDS[key](workload)] : key === 'version' ? [...versionsOf(workload)] : []
  for (const map of [workload.labels, workload.fingerprint_keys]) {
    for (const [name, value] of Object.entries(map ?? {})) {
      const full = name.toLowerCase()
      const bare = full.startsWith(TRUSTED_PREFIX) ? full.slice(TRUSTED_PREFIX.length) : full
      if (full === key || bare === key) values.push(value)
    }
  }
  return values
}

let texts = new WeakMap<WorkloadRecord, string>()
let textsLanguage = ''

/** The text in which free text is searched; made once for each record, since each typed letter searches anew. */
function textOf(workload: WorkloadRecord): string {
  if (textsLanguage !== language.value) {
    texts = new WeakMap()
    textsLanguage = language.value
  }
  const known = texts.get(workload)
  if (known !== undefined) return known
  const parts = [
    nameOf(workload),
    placeOf(workload),
    ...Object.values(workload.labels ?? {}),
    whyOf(workload),
  ]
  const text = parts.join('\n').toLowerCase()
  texts.set(workload, text)
  return text
}

function matchesTerm(workload: WorkloadRecord, { key, value }: SearchTerm): boolean {
  if (key !== null) return valuesOf(workload, key).some((found) => found.toLowerCase().includes(value))
  if (textOf(workload).includes(value) || workload.id.startsWith(value)) return true
  return (
    versionsOf(workload).some((version) => version.startsWith(value)) ||
    workload.active_config_hash?.startsWith(value) === true
  )
}

/** Whether a workload has everything that was searched for. */
export const matchesSearch = (workload: WorkloadRecord, terms: readonly SearchTerm[]): boolean =>
  terms.every((term) => matchesTerm(workload, term) !== term.isNegated)

/** How a search could go on. */
export interface Suggestion {
  /** The whole search with it. */
  text: string
  /** What it adds, as it would be typed. */
  word: string
  /** How many workloads have the value; null for a key. */
  count: number | null
}

const SUGGESTIONS_MAX = 8
/** The fields that are offered, the likeliest first; the others are found by who knows them. */
const OFFERED_KEYS = ['status', 'why', 'env', 'cluster', 'namespace', 'version', 'type', 'config', 'name']

/** The keys that somebody can search by: the fields, and the labels that the workloads have. */
function listKeys(workloads: Iterable<WorkloadRecord>): string[] {
  const labels = new Set<string>()
  for (const { labels: own = {} } of workloads)
    for (const key of Object.keys(own))
      labels.add((key.startsWith(TRUSTED_PREFIX) ? key.slice(TRUSTED_PREFIX.length) : key).toLowerCase())
  return [...new Set([...OFFERED_KEYS, ...[...labels].sort()])]
}

/** The values that the workloads have for a key, with how many have each; that of most comes first. */
function countValues(workloads: Iterable<WorkloadRecord>, key: string): [value: string, count: number][] {
  const counts = new Map<string, number>()
  for (const workload of workloads) {
    if (workload.archived_at) continue
    const values =
      key === 'config'
        ? [configStateOf(workload)]
        : key === 'why'
          ? workload.trouble
            ? [describeTrouble(workload.trouble)]
            : []
          : valuesOf(workload, key)
    for (const value of new Set(values)) if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return [...counts].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
}

/** How the last word of a search could go on: with a key, or behind a key with a value that the fleet has. */
export function suggestSearch(workloads: readonly WorkloadRecord[], text: string): Suggestion[] {
  const word = splitSearch(text).at(-1) ?? ''
  const last = text.endsWith(word) ? word : ''
  const head = text.slice(0, text.length - last.length)
  const sign = last.startsWith('-') ? '-' : ''
  const [key = '', ...rest] = last.slice(sign.length).split(':')
  const suggest = (more: string, count: number | null) => ({
    text: head + sign + more,
    word: sign + more,
    count,
  })
  if (rest.length === 0)
    return listKeys(workloads)
      .filter((one) => one.startsWith(key.toLowerCase()))
      .slice(0, SUGGESTIONS_MAX)
      .map((one) => suggest(`${one}:`, null))
  const part = rest.join(':').replaceAll('"', '').toLowerCase()
  return countValues(workloads, key.toLowerCase())
    .filter(
      ([value]) => value.toLowerCase().includes(part) && value.toLowerCase() !== part && !value.includes('"'),
    )
    .slice(0, SUGGESTIONS_MAX)
    .map(([value, count]) => suggest(`${key}:${/\s/.test(value) ? `"${value}"` : value}`, count))
}
