import { noPresences, type Presence } from '../../../lib/model/presence.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import type { FleetHealth } from '../../../lib/wire/fleet-health.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import type { Tone } from './diagnosis.ts'
import {
  compareNames,
  compareVersions,
  presenceOf,
  toneOfTrouble,
  troubleNow,
  troubleRank,
  versionsOf,
} from './workloads.ts'

/** How many workloads are how; archived ones do not count. */
export type HealthShares = Record<Presence | 'all', number>

/** Count the workloads by their status. */
export function countShares(workloads: Iterable<WorkloadRecord>): HealthShares {
  const shares: HealthShares = { all: 0, ...noPresences() }
  for (const workload of workloads) {
    if (workload.archived_at) continue
    shares.all++
    shares[presenceOf(workload)]++
  }
  return shares
}

/** The workloads of one version. */
export interface VersionCount {
  version: string
  count: number
  /** Those among them of which other instances run another version. */
  mixedCount: number
  isOutdated: boolean
}

/**
 * How many workloads run which version, the newest first; '' is unknown and last. A workload whose instances differ
 * counts with each of its versions, as it is found by each.
 */
export function countVersions(workloads: Iterable<WorkloadRecord>): VersionCount[] {
  const found = new Map<string, VersionCount>()
  for (const workload of workloads) {
    if (workload.archived_at || workload.type !== 'collector') continue
    const mixed = workload.version_mix ? 1 : 0
    for (const [at, version] of versionsOf(workload).entries()) {
      const known = found.get(version) ?? { version, count: 0, mixedCount: 0, isOutdated: false }
      known.count++
      known.mixedCount += mixed
      // The mark is about the lowest version of the workload.
      known.isOutdated ||= at === 0 && workload.version_outdated
      found.set(version, known)
    }
  }
  return [...found.values()].sort((a, b) =>
    a.version === '' || b.version === ''
      ? Number(a.version === '') - Number(b.version === '')
      : compareVersions(b.version, a.version),
  )
}

/** The window as one line for each state, null where nothing was counted; null where nothing was counted at all. */
export function toHealthLines(health: FleetHealth): Record<Presence, (number | null)[]> | null {
  const { times } = toHealthBars(health)
  if (times.length === 0) return null
  const known = new Map(health.buckets.map((bucket) => [Date.parse(bucket.start) / 1000, bucket]))
  const lineOf = (state: Presence) => times.map((time) => known.get(time)?.[state] ?? null)
  return {
    connected: lineOf('connected'),
    degraded: lineOf('degraded'),
    disconnected: lineOf('disconnected'),
    leaving: lineOf('leaving'),
  }
}

/** The window as bars, with a gap of zeros where nothing was counted; empty where nothing was counted at all. */
export function toHealthBars({ since, bucket_seconds: seconds, window, buckets }: FleetHealth) {
  const first = Date.parse(since) / 1000
  const count = { '1h': 3_600, '6h': 21_600, '24h': 86_400, '7d': 604_800 }[window] / seconds
  const known = new Map(buckets.map((bucket) => [Date.parse(bucket.start) / 1000, bucket]))
  const times = known.size === 0 ? [] : Array.from({ length: count }, (_, at) => first + at * seconds)
  const valuesOf = (key: Presence) => times.map((time) => known.get(time)?.[key] ?? 0)
  return {
    times,
    connected: valuesOf('connected'),
    degraded: valuesOf('degraded'),
    disconnected: valuesOf('disconnected'),
    leaving: valuesOf('leaving'),
  }
}

/** What is wrong with the fleet now. */
export interface WrongNow {
  shares: HealthShares
  /** Workloads that have a trouble now, as the fleet's list shows it. */
  troubledCount: number
  /** The worst among them, as the fleet's list begins; `WORST_NAMED_MAX` at most. */
  worst: readonly WorkloadRecord[]
  /** Open alerts whose cause is there still. */
  alertCount: number
  /** Open alerts about a workload that has no trouble any more: the service closes them at its next look. */
  overCount: number
  tone: 'ok' | 'warn' | 'bad'
}

/** How many workloads the overview names as the worst. */
export const WORST_NAMED_MAX = 3

/** Whether the cause of an open alert has gone while the alert is still open. */
export function isOver(alert: AlertRecord, workloads: ReadonlyMap<string, WorkloadRecord>): boolean {
  const workload = workloads.get(alert.workload_id)
  if (workload === undefined) return false
  return alert.rule === 'version_outdated' ? !workload.version_outdated : troubleNow(workload) === null
}

/** What is wrong now: the troubles of the workloads, and the alerts whose cause is there still. */
export function judgeNow(
  workloads: ReadonlyMap<string, WorkloadRecord>,
  alerts: readonly AlertRecord[],
): WrongNow {
  const troubled = [...workloads.values()].filter((workload) => troubleNow(workload) !== null)
  const troubles = troubled.map(({ trouble }) => trouble!)
  const standing = alerts.filter((alert) => !isOver(alert, workloads))
  const isBad =
    troubles.some((trouble) => toneOfTrouble(trouble) === 'bad') ||
    standing.some(({ severity }) => severity === 'critical')
  const isWrong = troubles.length > 0 || standing.length > 0
  return {
    shares: countShares(workloads.values()),
    troubledCount: troubled.length,
    worst: troubled
      .sort((a, b) => troubleRank(a) - troubleRank(b) || compareNames(a, b))
      .slice(0, WORST_NAMED_MAX),
    alertCount: standing.length,
    overCount: alerts.length - standing.length,
    tone: isBad ? 'bad' : isWrong ? 'warn' : 'ok',
  }
}

/** What the one sentence about the fleet is made of. */
export interface FleetVerdict {
  now: WrongNow
  /** Changes that touched instances, and those among them that failed or stand still; null: nobody could read them. */
  changeCount: number | null
  badChangeCount: number
  /** Changes among them that wait for somebody's decision. */
  haltedCount: number
  /** Changes among them of which nobody knows the end yet, as while nobody answers. */
  openCount: number
  /** There are more changes than were read. */
  hasMoreChanges: boolean
}

/** Campaigns that have not started, or ended before they did. */
const UNSTARTED: ReadonlySet<ChangeRecord['campaign_status']> = new Set([
  'draft',
  'planned',
  'requested',
  'approved',
  'rejected',
  'withdrawn',
  'expired',
])

/** Whether something was changed: a request alone changes nothing, nor does a campaign before its start. */
export const isMade = ({ kind, campaign_status: status }: ChangeRecord): boolean =>
  kind !== 'request' && !UNSTARTED.has(status)

const WRONG: ReadonlySet<ChangeRecord['outcome']> = new Set(['failed', 'in_part', 'halted'])

/** Whether a change failed, also in part, or stands still. A campaign that is done may have failed on some. */
const wentWrong = ({ outcome, failed_count: failed = 0 }: ChangeRecord): boolean =>
  WRONG.has(outcome) || failed > 0

/** What to say of the fleet, by what is wrong now and what was changed. */
export function judgeFleet(
  now: WrongNow,
  changes: readonly ChangeRecord[] | null,
  hasMoreChanges: boolean,
): FleetVerdict {
  if (changes === null)
    return { now, changeCount: null, badChangeCount: 0, haltedCount: 0, openCount: 0, hasMoreChanges: false }
  const made = changes.filter(isMade)
  const count = (wanted: ChangeRecord['outcome']) => made.filter(({ outcome }) => outcome === wanted).length
  const halted = count('halted')
  return {
    now,
    changeCount: made.length,
    hasMoreChanges,
    badChangeCount: made.filter(wentWrong).length,
    haltedCount: halted,
    openCount: count('open'),
  }
}

/** How bad it is now. A change that failed and was made good since is told, but it is over. */
export const toneOf = ({ now, haltedCount }: FleetVerdict): Tone =>
  now.tone === 'ok' && haltedCount > 0 ? 'warn' : now.tone
