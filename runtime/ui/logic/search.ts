import { TRUSTED_PREFIX } from '../../../lib/model/labels.ts'
import { isDrifted } from '../../../lib/model/troubles.ts'
import {
  codesOf,
  matchesTerms,
  type SearchTerm,
  searchTextOf,
  splitSearch,
  statusesOf,
  valuesOf,
} from '../../../lib/model/workload-search.ts'
import { configStateOf, shownStatusOf } from '../../../lib/model/workload-states.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { commonTexts } from '../i18n/common.ts'
import { language, say } from '../i18n/define.ts'
import { fleetTexts } from '../i18n/fleet.ts'
import { describeReason, describeTrouble } from '../i18n/trouble.ts'

/** A search without one of its words. */
export const withoutWord = (text: string, at: number): string =>
  splitSearch(text)
    .filter((_, index) => index !== at)
    .join(' ')

/**
 * What is wrong, for searching: the words on the page, and the codes and the English title as well, since somebody who pages
 * may quote them. `push_failed` is found as "failed", a halted rollout as "halted".
 */
function whyOf(workload: WorkloadRecord): string {
  const { trouble } = workload
  return [
    ...(trouble ? [describeTrouble(trouble), describeReason(trouble)] : []),
    isDrifted(workload) ? say(fleetTexts).drifted : '',
    codesOf(workload),
  ]
    .filter(Boolean)
    .join('\n')
    .replaceAll('\u00a0', ' ')
}

let texts = new WeakMap<WorkloadRecord, { named: string; whole: string }>()
let textsLanguage = ''

/**
 * The texts in which free text is searched, without the words of the status and with them; made once for each record, since
 * each typed letter searches anew.
 */
function textsOf(workload: WorkloadRecord): { named: string; whole: string } {
  if (textsLanguage !== language.value) {
    texts = new WeakMap()
    textsLanguage = language.value
  }
  const known = texts.get(workload)
  if (known !== undefined) return known
  const status = say(commonTexts).status[shownStatusOf(workload)]
  const named = searchTextOf(workload, whyOf(workload))
  const whole = [named, status.toLowerCase(), ...statusesOf(workload)].join('\n')
  texts.set(workload, { named, whole })
  return { named, whole }
}

/** Whether a workload has everything that was searched for, in the words of the page. */
export const matchesSearch = (workload: WorkloadRecord, terms: readonly SearchTerm[]): boolean =>
  matchesTerms(workload, terms, { whyOf, textOf: (one) => textsOf(one).whole })

/** The same for whoever looks for one workload: how it stands names none, as nearly all are "connected". */
export const matchesOne = (workload: WorkloadRecord, terms: readonly SearchTerm[]): boolean =>
  matchesTerms(workload, terms, { whyOf, textOf: (one) => textsOf(one).named })

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
const OFFERED_KEYS = [
  'status',
  'why',
  'trouble',
  'env',
  'cluster',
  'namespace',
  'version',
  'type',
  'config',
  'name',
]

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
