import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import type { FleetHealth } from '../../../lib/wire/fleet-health.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import type { Tone } from './diagnosis.ts'
import { compareVersions } from './workloads.ts'

/** How many workloads are how; archived ones do not count. */
export interface HealthShares {
  all: number
  connected: number
  degraded: number
  disconnected: number
}

/** Count the workloads by their status. */
export function countShares(workloads: Iterable<WorkloadRecord>): HealthShares {
  const shares: HealthShares = { all: 0, connected: 0, degraded: 0, disconnected: 0 }
  for (const { archived_at: archivedAt, status } of workloads) {
    if (archivedAt) continue
    shares.all++
    shares[status]++
  }
  return shares
}

/** The workloads of one version. */
export interface VersionCount {
  version: string
  count: number
  isOutdated: boolean
}

/** How many workloads run which version, the newest first; '' is unknown and last. */
export function countVersions(workloads: Iterable<WorkloadRecord>): VersionCount[] {
  const found = new Map<string, VersionCount>()
  for (const { archived_at: archivedAt, type, version, version_outdated: isOutdated } of workloads) {
    if (archivedAt || type !== 'collector') continue
    const known = found.get(version ?? '') ?? { version: version ?? '', count: 0, isOutdated }
    found.set(known.version, { ...known, count: known.count + 1, isOutdated: known.isOutdated || isOutdated })
  }
  return [...found.values()].sort((a, b) =>
    a.version === '' || b.version === ''
      ? Number(a.version === '') - Number(b.version === '')
      : compareVersions(b.version, a.version),
  )
}

/** The window as bars, with a gap of zeros where nothing was counted; empty where nothing was counted at all. */
export function toHealthBars({ since, bucket_seconds: seconds, window, buckets }: FleetHealth) {
  const first = Date.parse(since) / 1000
  const count = { '1h': 3_600, '6h': 21_600, '24h': 86_400, '7d': 604_800 }[window] / seconds
  const known = new Map(buckets.map((bucket) => [Date.parse(bucket.start) / 1000, bucket]))
  const times = known.size === 0 ? [] : Array.from({ length: count }, (_, at) => first + at * seconds)
  const valuesOf = (key: 'connected' | 'degraded' | 'disconnected') =>
    times.map((time) => known.get(time)?.[key] ?? 0)
  return {
    times,
    connected: valuesOf('connected'),
    degraded: valuesOf('degraded'),
    disconnected: valuesOf('disconnected'),
  }
}

/** What the one sentence about the fleet is made of. */
export interface FleetVerdict {
  shares: HealthShares
  alertCount: number
  /** Changes that touched instances, and those among them that failed or stand still; null: nobody could read them. */
  changeCount: number | null
  badChangeCount: number
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

/** A request alone changes nothing, nor does a campaign before its start. */
export function judgeFleet(
  shares: HealthShares,
  alertCount: number,
  changes: readonly ChangeRecord[] | null,
  hasMoreChanges: boolean,
): FleetVerdict {
  if (changes === null)
    return { shares, alertCount, changeCount: null, badChangeCount: 0, hasMoreChanges: false }
  const made = changes.filter(
    ({ kind, campaign_status: status }) => kind !== 'request' && !UNSTARTED.has(status),
  )
  const bad = made.filter(({ outcome }) => outcome === 'failed' || outcome === 'halted')
  return { shares, alertCount, changeCount: made.length, badChangeCount: bad.length, hasMoreChanges }
}

/** How bad it is. */
export function toneOf({ shares, alertCount, badChangeCount }: FleetVerdict): Tone {
  if (alertCount > 0 || shares.disconnected > 0) return 'bad'
  return shares.degraded > 0 || badChangeCount > 0 ? 'warn' : 'ok'
}
