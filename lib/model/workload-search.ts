import type { WorkloadRecord } from '../wire/workloads.ts'
import { TRUSTED_PREFIX } from './labels.ts'
import { namespaceOrHostOf } from './places.ts'
import { isDrifted, troublesOf } from './troubles.ts'
import { nameOf } from './workload-names.ts'
import {
  clusterOf,
  configStateOf,
  environmentOf,
  placeOf,
  shownStatusOf,
  versionsOf,
} from './workload-states.ts'

/*
 * How the fleet is searched, on the page that has the whole list and by the service for those that have not. What is wrong is
 * said by a page in its language; the service knows the codes of it and the English titles.
 */

/** One word of a search: free text, or `key:value`; a leading `-` takes away. */
export interface SearchTerm {
  key: string | null
  value: string
  isNegated: boolean
}

/** The words of a search as they were typed. Quotes keep blanks together. */
export const splitSearch = (text: string): string[] => text.match(/-?(?:[^\s"]*"[^"]*"?|[^\s"]+)/g) ?? []

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

/** What is wrong, by its codes and the English title, which somebody who pages may quote. */
export function codesOf(
  workload: Pick<WorkloadRecord, 'trouble' | 'drifted_instance_count' | 'altered_instance_count'>,
): string {
  const { trouble } = workload
  // The counter of those that drifted counts also those of which something worse is said.
  const counted = isDrifted(workload) ? 'drifted' : ''
  if (!trouble) return counted
  return [
    counted,
    trouble.kind.replaceAll('_', ' '),
    trouble.error_cause?.replaceAll('_', ' '),
    trouble.error_title,
    trouble.component,
    trouble.error_message,
    ...Object.values(trouble.error_parameters ?? {}),
  ]
    .filter(Boolean)
    .join('\n')
}

/** The words of a workload's status: one that is shown as all unhealthy is counted as degraded too. */
export function statusesOf(workload: WorkloadRecord): string[] {
  const status = shownStatusOf(workload)
  return status === 'all_unhealthy' ? ['all unhealthy', 'degraded'] : [status]
}

const FIELDS: Record<string, (workload: WorkloadRecord) => string | readonly string[]> = {
  name: nameOf,
  status: statusesOf,
  version: versionsOf,
  type: (w) => w.type,
  env: environmentOf,
  environment: environmentOf,
  cluster: clusterOf,
  namespace: (w) => namespaceOrHostOf(w.fingerprint_keys ?? {}),
  host: (w) => namespaceOrHostOf(w.fingerprint_keys ?? {}),
  config: (w) => `${w.active_config_hash ?? ''} ${configStateOf(w)}`,
  id: (w) => w.id,
  trouble: troublesOf,
}

/** The values that a workload has for a key of the search: a field, or a label. */
export function valuesOf(workload: WorkloadRecord, key: string): string[] {
  const field = Object.hasOwn(FIELDS, key) ? FIELDS[key]! : null
  const values = field === null ? [] : [field(workload)].flat()
  for (const map of [workload.labels, workload.fingerprint_keys]) {
    for (const [name, value] of Object.entries(map ?? {})) {
      const full = name.toLowerCase()
      const bare = full.startsWith(TRUSTED_PREFIX) ? full.slice(TRUSTED_PREFIX.length) : full
      if (full === key || bare === key) values.push(value)
    }
  }
  return values
}

/** The text in which free text is searched, with what is wrong in the words of whoever searches. */
export const searchTextOf = (workload: WorkloadRecord, why: string): string =>
  [nameOf(workload), placeOf(workload), ...Object.values(workload.labels ?? {}), why].join('\n').toLowerCase()

/** What a search reads beside the record. */
export interface SearchTexts {
  /** What is wrong, in words. */
  whyOf: (workload: WorkloadRecord) => string
  /** `searchTextOf` with these words. */
  textOf: (workload: WorkloadRecord) => string
}

/** What the service searches by. */
export const CODES: SearchTexts = {
  whyOf: codesOf,
  textOf: (workload) => searchTextOf(workload, codesOf(workload)),
}

function matchesTerm(
  workload: WorkloadRecord,
  { key, value }: SearchTerm,
  whyOf: SearchTexts['whyOf'],
  text: () => string,
): boolean {
  if (key === 'why') return whyOf(workload).toLowerCase().includes(value)
  if (key !== null) return valuesOf(workload, key).some((found) => found.toLowerCase().includes(value))
  if (text().includes(value) || workload.id.startsWith(value)) return true
  return (
    versionsOf(workload).some((version) => version.startsWith(value)) ||
    workload.active_config_hash?.startsWith(value) === true
  )
}

/** Whether a workload has everything that was searched for. */
export function matchesTerms(
  workload: WorkloadRecord,
  terms: readonly SearchTerm[],
  { whyOf, textOf }: SearchTexts,
): boolean {
  let known: string | undefined
  const text = () => {
    known ??= textOf(workload)
    return known
  }
  return terms.every((term) => matchesTerm(workload, term, whyOf, text) !== term.isNegated)
}
