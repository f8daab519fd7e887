import {
  clusterOf as clusterAmong,
  environmentOf as environmentAmong,
  trustedAmong,
} from '../../../lib/model/labels.ts'
import { placeOf as placeAmong } from '../../../lib/model/places.ts'
import { type Presence, presenceOf as presenceAmong } from '../../../lib/model/presence.ts'
import { troubleRank } from '../../../lib/model/troubles.ts'
import { compareNames } from '../../../lib/model/workload-names.ts'
import type { ReadOnlyReason, WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { isOpen } from './pushes.ts'

/** A workload's environment, from its trusted or its reported labels; empty when unknown. */
export const environmentOf = ({ labels = {} }: WorkloadRecord): string =>
  environmentAmong(trustedAmong(labels), labels)

/** The cluster, from labels or from the workload's identity; empty when unknown. */
export const clusterOf = ({
  labels = {},
  fingerprint_keys: keys,
}: Pick<WorkloadRecord, 'labels' | 'fingerprint_keys'>): string =>
  clusterAmong(trustedAmong(labels), labels) || keys?.['cluster'] || ''

/** What tells workloads of one name apart: namespace or host. */
export const placeOf = ({ fingerprint_keys: keys }: Pick<WorkloadRecord, 'fingerprint_keys'>): string =>
  placeAmong(keys ?? {})

/** A name and its place, the telling one first: that is the place where others have the name too. */
export const tellingFirst = (
  name: string,
  place: string,
  isShared: boolean,
): [first: string, second: string] => (isShared && place !== '' ? [place, name] : [name, place])

/** A name with what tells it apart from others that are alike; either may be missing. */
export const namedAt = (name: string, place: string, isShared: boolean): string =>
  tellingFirst(name, place, isShared)
    .filter((part) => part !== '')
    .join(' · ')

/** The versions that a workload's instances have, the lowest first; of very many only some. */
export const versionsOf = ({ version, version_mix: mix }: WorkloadRecord): readonly string[] =>
  mix ? mix.lowest.map((one) => one.version) : [version ?? '']

/** Why nothing can be pushed; null when something can. */
export function readOnlyReason(workload: WorkloadRecord): ReadOnlyReason | null {
  if (workload.type !== 'collector') return 'not_a_collector'
  return workload.accepts_remote_config ? null : 'no_remote_config'
}

/** How a workload counts, archived or not. */
export const presenceOf = ({ status, connected_instance_count: count }: WorkloadRecord): Presence =>
  presenceAmong(status, count)

/** The status to show. */
export const statusOf = (workload: WorkloadRecord): Presence | 'archived' =>
  workload.archived_at ? 'archived' : presenceOf(workload)

/**
 * The config that failed with nothing to go back to, where nothing else is active: it is what nobody is to run, whether it
 * went out in stages or at once. Null where there is none.
 */
export function deadEndOf({
  current_config_push: push,
  active_config_hash: active,
}: Pick<WorkloadRecord, 'current_config_push' | 'active_config_hash'>): string | null {
  if (push?.aftermath?.kind !== 'nowhere_to_go') return null
  return active === undefined || active === push.config_hash ? push.config_hash : null
}

/** The config that a workload is to run, where it can; else what its instances report is what there is to show. */
export const workableHashOf = (workload: WorkloadRecord): string | undefined =>
  deadEndOf(workload) === null ? workload.active_config_hash : undefined

/** The state of a workload's config in one word. */
export type ConfigState =
  | 'not_managed'
  | 'none'
  | 'failed'
  | 'halted'
  | 'applying'
  | 'drifted'
  | 'in_sync'
  | 'unknown'

/** What the config column says. */
export function configStateOf(workload: WorkloadRecord): ConfigState {
  if (readOnlyReason(workload) !== null) return 'not_managed'
  if (deadEndOf(workload) !== null) return 'failed'
  const push = workload.current_config_push
  if (push?.status === 'failed' && push.config_hash === workload.active_config_hash) return 'failed'
  if (push !== undefined && isOpen(push)) {
    if (push.rollout_status === 'halted') return 'halted'
    if (push.target_count > 0) return 'applying'
  }
  if (!workload.active_config_hash)
    return workload.remote_config_status?.status === 'failed' ? 'failed' : 'none'
  if (workload.applying_instance_count > 0) return 'applying'
  if (workload.drifted_instance_count > 0) return 'drifted'
  return workload.status === 'disconnected' ? 'unknown' : 'in_sync'
}

/** The counters of the fleet page, each a filter. */
export const FLEET_FILTERS = {
  connected: (w) => presenceOf(w) === 'connected',
  degraded: (w) => presenceOf(w) === 'degraded',
  disconnected: (w) => presenceOf(w) === 'disconnected',
  drifted: (w) => w.drifted_instance_count > 0,
  applying: (w) => configStateOf(w) === 'applying' || w.applying_instance_count > 0,
  outdated: (w) => w.version_outdated === true,
  alerts: (w) => w.open_alert_count > 0,
  approval: (w) => w.waiting_approval_count > 0,
  // Last, as it is there for seconds only: no other counter is to move for it.
  leaving: (w) => presenceOf(w) === 'leaving',
} satisfies Record<string, (workload: WorkloadRecord) => boolean>

/** One of the counters of the fleet page. */
export type FleetFilter = keyof typeof FLEET_FILTERS

const STATUS_RANK: Record<Presence, number> = { disconnected: 0, leaving: 1, degraded: 2, connected: 3 }
const CONFIG_RANK: Record<ConfigState, number> = {
  failed: 0,
  halted: 1,
  drifted: 2,
  applying: 3,
  unknown: 4,
  in_sync: 5,
  none: 6,
  not_managed: 7,
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

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
  status: (w) => STATUS_RANK[presenceOf(w)],
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
  const texts = [...new Set(keys.filter((key) => typeof key === 'string'))].sort(collator.compare)
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

/** What the fleet can be grouped by, beside `label:<key>`. */
export function groupValueOf(workload: WorkloadRecord, group: string): string {
  if (group === 'version') return versionsOf(workload).join(', ')
  if (group === 'cluster') return clusterOf(workload)
  if (group === 'config') return workload.active_config_hash?.slice(0, 7) ?? ''
  if (group === 'environment') return environmentOf(workload)
  if (group.startsWith('label:')) return workload.labels?.[group.slice(6)] ?? ''
  return ''
}
