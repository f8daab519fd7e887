import { compareAsRead } from '../../../lib/model/text-order.ts'
import { causeKeyOf, isDrifted, troubleNow, troubleRank } from '../../../lib/model/troubles.ts'
import { compareNames } from '../../../lib/model/workload-names.ts'
import {
  type ConfigState,
  clusterOf,
  configStateOf,
  deadEndOf,
  environmentOf,
  presenceOf,
  readOnlyReason,
  shownStatusOf,
  versionsOf,
} from '../../../lib/model/workload-states.ts'
import type { RunningConfigs, WorkloadRecord } from '../../../lib/wire/workloads.ts'

/** Whether a place is a host: people look for that, where a cluster and its namespace are the place of many workloads. */
const isHost = (place: string): boolean => place !== '' && !place.includes('/')

/** A name and its place, the telling one first: that is the host where others have the name too. */
export const tellingFirst = (
  name: string,
  place: string,
  isShared: boolean,
): [first: string, second: string] => (isShared && isHost(place) ? [place, name] : [name, place])

/** A name with what tells it apart from others that are alike; either may be missing. */
export const namedAt = (name: string, place: string, isShared: boolean): string =>
  tellingFirst(name, place, isShared)
    .filter((part) => part !== '')
    .join(' · ')

/** What is read first of what identifies a workload. */
const IDENTITY_FIRST = ['name', 'kind', 'namespace', 'cluster']

/** What identifies a workload, its name first, and always in one order, whichever process says it. */
export function identityOf({ fingerprint_keys: keys = {} }: Pick<WorkloadRecord, 'fingerprint_keys'>) {
  const rankOf = (key: string) => {
    const at = IDENTITY_FIRST.indexOf(key)
    return at < 0 ? IDENTITY_FIRST.length : at
  }
  return Object.entries(keys).sort(([a], [b]) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))
}

/** The config that a workload is to run, where it can; else what its instances report is what there is to show. */
export const workableHashOf = (workload: WorkloadRecord): string | undefined =>
  deadEndOf(workload) === null ? workload.active_config_hash : undefined

/** What live instances run, where not all of them run what the workload is to run; undefined where they do. */
export const otherwiseRunning = (workload: WorkloadRecord): RunningConfigs | undefined =>
  readOnlyReason(workload) === null && deadEndOf(workload) === null && workload.connected_instance_count > 0
    ? workload.running_configs
    : undefined

/** The counters of the fleet page, each a filter. All are always there, so that each has its place. */
export const FLEET_FILTERS = {
  connected: (w) => presenceOf(w) === 'connected',
  degraded: (w) => presenceOf(w) === 'degraded',
  // A part of those before it, which its name says.
  all_unhealthy: (w) => shownStatusOf(w) === 'all_unhealthy',
  disconnected: (w) => presenceOf(w) === 'disconnected',
  leaving: (w) => presenceOf(w) === 'leaving',
  drifted: isDrifted,
  applying: (w) => configStateOf(w) === 'applying' || w.applying_instance_count > 0,
  outdated: (w) => w.version_outdated === true,
  alerts: (w) => w.open_alert_count > 0,
  approval: (w) => w.waiting_approval_count > 0,
  wrong: (w) => troubleNow(w) !== null,
} satisfies Record<string, (workload: WorkloadRecord) => boolean>

/** One of the counters of the fleet page. */
export type FleetFilter = keyof typeof FLEET_FILTERS

/** The worst status first. */
const STATUSES = ['archived', 'disconnected', 'all_unhealthy', 'leaving', 'degraded', 'connected'] as const
const CONFIG_RANK: Record<ConfigState, number> = {
  failed: 0,
  halted: 1,
  split: 2,
  drifted: 3,
  altered: 4,
  applying: 5,
  unknown: 6,
  in_sync: 7,
  none: 8,
  not_managed: 9,
}

/** The labels that say something that no other column says. */
export const tellingLabels = (workload: WorkloadRecord): [string, string][] =>
  Object.entries(workload.labels ?? {}).filter(([key]) => !/^(host|os|service|k8s)\./.test(key))

/** The labels that do not repeat what the identity of a workload says, such as the name of its cluster. */
export function labelsBesideIdentity({ labels, fingerprint_keys: keys }: WorkloadRecord): [string, string][] {
  const known = new Set(Object.values(keys ?? {}))
  return Object.entries(labels ?? {}).filter(
    ([key, value]) => !/^(host\.name|service|k8s)\b/.test(key) || !known.has(value),
  )
}

/** Where the trouble of a workload is to be seen. */
export function troubleHref({ id, trouble }: Pick<WorkloadRecord, 'id' | 'trouble'>): string {
  const base = `/workloads/${id}`
  switch (trouble?.kind) {
    case 'unhealthy':
    case 'some_unhealthy':
    case 'degraded':
      return `${base}/health`
    case 'push_failed':
    case 'rolled_back':
    case 'some_failed':
      return `${base}/pushes/${trouble.config_hash}?push=${trouble.push_id}`
    case 'rollout_halted':
      return `${base}/rollouts/${trouble.rollout_id}`
    case 'drifted':
    case 'altered':
      return `${base}/instances`
    case 'disconnected':
    case 'leaving':
      return `${base}/activity`
    default:
      return base
  }
}

/**
 * The key that each column sorts by. `name` needs none, since rows with equal keys stay in the order of their names.
 */
export const FLEET_SORTS = {
  status: (w) => STATUSES.indexOf(shownStatusOf(w)),
  name: () => 0,
  why: troubleRank,
  type: (w) => w.type,
  environment: environmentOf,
  cluster: clusterOf,
  instances: (w) => w.connected_instance_count,
  config: (w) => `${CONFIG_RANK[configStateOf(w)]} ${w.active_config_hash ?? ''}`,
  version: (w) => w.version,
  alerts: (w) => -w.open_alert_count,
  labels: (w) =>
    tellingLabels(w)
      .map(([key, value]) => `${key}=${value}`)
      .join(' '),
  seen: (w) => -Date.parse(w.last_seen_at),
} satisfies Record<string, (workload: WorkloadRecord) => string | number>

/** A column that the fleet can be sorted by. */
export type FleetSort = keyof typeof FLEET_SORTS

/** Keys as numbers: texts by their place among the few that there are, so that each is compared once. */
function toRanks(keys: readonly (string | number)[]): number[] {
  const texts = [...new Set(keys.filter((key) => typeof key === 'string'))].sort(compareAsRead)
  const places = new Map(texts.map((text, at) => [text, at]))
  return keys.map((key) => (typeof key === 'string' ? (places.get(key) ?? 0) : key))
}

/**
 * A sorted copy in which rows with equal keys stand by name, then id. `isByName` says that the rows come in that order
 * already, as the fleet's do.
 */
export function sortWorkloads(
  rows: readonly WorkloadRecord[],
  sort: FleetSort,
  isDescending: boolean,
  isByName = false,
): WorkloadRecord[] {
  const byName = isByName ? [...rows] : [...rows].sort(compareNames)
  if (sort === 'name') return isDescending ? byName.reverse() : byName
  const keyOf: (workload: WorkloadRecord) => string | number = FLEET_SORTS[sort]
  const ranks = toRanks(byName.map(keyOf))
  const sign = isDescending ? -1 : 1
  return byName
    .map((row, at) => ({ row, rank: ranks[at] ?? 0 }))
    .sort((a, b) => sign * (a.rank - b.rank))
    .map(({ row }) => row)
}

/** What tells its cause from others; what is wrong where it is not known why. */
function causeOf(workload: WorkloadRecord): string {
  const trouble = troubleNow(workload)
  return trouble === null ? '' : (causeKeyOf(trouble) ?? trouble.kind)
}

/** What the fleet can be grouped by, beside `label:<key>`. */
export function groupValueOf(workload: WorkloadRecord, group: string): string {
  if (group === 'version') return versionsOf(workload).join(', ')
  if (group === 'cluster') return clusterOf(workload)
  if (group === 'config') return workload.active_config_hash?.slice(0, 7) ?? ''
  if (group === 'cause') return causeOf(workload)
  if (group === 'environment') return environmentOf(workload)
  if (group.startsWith('label:')) return workload.labels?.[group.slice(6)] ?? ''
  return ''
}

/** Workloads that have one thing in common, and how many of them something is wrong with. */
export interface FleetGroup {
  value: string
  members: WorkloadRecord[]
  wrongCount: number
}

/**
 * Sorted workloads by what they are grouped by, the groups by name. Where the worst workloads stand first, so do the
 * groups: first those in which most are in trouble, then where that is the larger share.
 */
export function groupWorkloads(
  rows: readonly WorkloadRecord[],
  group: string,
  isWorstFirst: boolean,
): FleetGroup[] {
  const groups = new Map<string, FleetGroup>()
  for (const row of rows) {
    const value = groupValueOf(row, group)
    const known = groups.get(value) ?? { value, members: [], wrongCount: 0 }
    groups.set(value, known)
    known.members.push(row)
    if (troubleNow(row) !== null) known.wrongCount++
  }
  const byTrouble = (a: FleetGroup, b: FleetGroup): number =>
    b.wrongCount - a.wrongCount || (b.wrongCount > 0 ? a.members.length - b.members.length : 0)
  return [...groups.values()].sort(
    (a, b) => (isWorstFirst ? byTrouble(a, b) : 0) || compareAsRead(a.value, b.value),
  )
}
