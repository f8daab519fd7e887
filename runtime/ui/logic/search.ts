import { TRUSTED_PREFIX } from '../../../lib/wire/labels.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { clusterOf, configStateOf, environmentOf, nameOf, placeOf } from './workloads.ts'

/** One word of a search: free text, or `key:value`; a leading `-` takes away. */
export interface SearchTerm {
  key: string | null
  value: string
  isNegated: boolean
}

/** Read `env:prod "two words" -status:connected`. Quotes keep blanks together. */
export function parseSearch(text: string): SearchTerm[] {
  const words = text.match(/-?(?:[^\s"]*"[^"]*"?|[^\s"]+)/g) ?? []
  return words.flatMap((word) => {
    const isNegated = word.length > 1 && word.startsWith('-')
    const bare = isNegated ? word.slice(1) : word
    const match = /^([\w./-]+):(.+)$/s.exec(bare)
    const value = (match?.[2] ?? bare).replaceAll('"', '').toLowerCase()
    return value === '' ? [] : [{ key: match?.[1]?.toLowerCase() ?? null, value, isNegated }]
  })
}

const FIELDS: Record<string, (workload: WorkloadRecord) => string> = {
  name: nameOf,
  status: (w) => w.status,
  type: (w) => w.type,
  env: environmentOf,
  environment: environmentOf,
  cluster: clusterOf,
  namespace: placeOf,
  host: placeOf,
  version: (w) => w.version,
  config: (w) => `${w.active_config_hash ?? ''} ${configStateOf(w)}`,
  id: (w) => w.id,
}

function valuesOf(workload: WorkloadRecord, key: string): string[] {
  const values = FIELDS[key] ? [FIELDS[key](workload)] : []
  for (const map of [workload.labels, workload.fingerprint_keys]) {
    for (const [name, value] of Object.entries(map ?? {})) {
      const full = name.toLowerCase()
      const bare = full.startsWith(TRUSTED_PREFIX) ? full.slice(TRUSTED_PREFIX.length) : full
      if (full === key || bare === key) values.push(value)
    }
  }
  return values
}

const texts = new WeakMap<WorkloadRecord, string>()

/** The text in which free text is searched; made once for each record, since each typed letter searches anew. */
function textOf(workload: WorkloadRecord): string {
  const known = texts.get(workload)
  if (known !== undefined) return known
  const parts = [nameOf(workload), placeOf(workload), ...Object.values(workload.labels ?? {})]
  const text = parts.join('\n').toLowerCase()
  texts.set(workload, text)
  return text
}

function matchesTerm(workload: WorkloadRecord, { key, value }: SearchTerm): boolean {
  if (key !== null) return valuesOf(workload, key).some((found) => found.toLowerCase().includes(value))
  if (textOf(workload).includes(value) || workload.id.startsWith(value)) return true
  return workload.version.startsWith(value) || workload.active_config_hash?.startsWith(value) === true
}

/** Whether a workload has everything that was searched for. */
export const matchesSearch = (workload: WorkloadRecord, terms: readonly SearchTerm[]): boolean =>
  terms.every((term) => matchesTerm(workload, term) !== term.isNegated)
