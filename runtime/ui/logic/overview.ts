import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import type { EventStatsWindow } from '../../../lib/wire/events.ts'
import type { FleetHealth } from '../../../lib/wire/fleet-health.ts'
import type { FleetSummary } from '../../../lib/wire/fleet-summary.ts'
import type { Tone } from './diagnosis.ts'
import type { CountedState } from './presence.ts'

/** The window as one line for each state, null where nothing was counted; null where nothing was counted at all. */
export function toHealthLines(health: FleetHealth): Record<CountedState, (number | null)[]> | null {
  const { times } = toHealthBars(health)
  if (times.length === 0) return null
  const known = new Map(health.buckets.map((bucket) => [Date.parse(bucket.start) / 1000, bucket]))
  const lineOf = (state: CountedState) =>
    times.map((time) => {
      const bucket = known.get(time)
      return bucket === undefined ? null : (bucket[state] ?? 0)
    })
  return {
    connected: lineOf('connected'),
    degraded: lineOf('degraded'),
    all_unhealthy: lineOf('all_unhealthy'),
    disconnected: lineOf('disconnected'),
    leaving: lineOf('leaving'),
  }
}

/** The shortest window that has all that was counted: of a service that is young the others would be nearly empty. */
export function windowOf({ buckets }: FleetHealth, nowMs: number): EventStatsWindow {
  const first = buckets[0]
  if (first === undefined) return '24h'
  const hours = (nowMs - Date.parse(first.start)) / 3_600_000
  return hours <= 1 ? '1h' : hours <= 6 ? '6h' : '24h'
}

/** Since when something was counted, where that is within the window; null where it was counted all the time. */
export function countedSince({ since, bucket_seconds: seconds, buckets }: FleetHealth): string | null {
  const first = buckets[0]?.start
  if (first === undefined) return null
  return Date.parse(first) - Date.parse(since) >= seconds * 1_000 ? first : null
}

/** The window as bars, with a gap of zeros where nothing was counted; empty where nothing was counted at all. */
export function toHealthBars({ since, bucket_seconds: seconds, window, buckets }: FleetHealth) {
  const first = Date.parse(since) / 1000
  const count = { '1h': 3_600, '6h': 21_600, '24h': 86_400, '7d': 604_800 }[window] / seconds
  const known = new Map(buckets.map((bucket) => [Date.parse(bucket.start) / 1000, bucket]))
  const times = known.size === 0 ? [] : Array.from({ length: count }, (_, at) => first + at * seconds)
  const valuesOf = (key: CountedState) => times.map((time) => known.get(time)?.[key] ?? 0)
  return {
    times,
    connected: valuesOf('connected'),
    degraded: valuesOf('degraded'),
    disconnected: valuesOf('disconnected'),
    leaving: valuesOf('leaving'),
    all_unhealthy: valuesOf('all_unhealthy'),
  }
}

/** Where what is not well is a smaller part of the fleet at every time, it is drawn alone. */
const ALONE_BELOW = 0.1

/**
 * What is drawn of each state, where each workload is drawn once: those of which no instance is healthy are counted among
 * the degraded too. Nine of fifteen hundred would be no line beside those that are well: where so few are not, these are
 * drawn alone, on an axis that counts them.
 */
export function toDrawn(bars: ReturnType<typeof toHealthBars>): {
  values: Record<CountedState, number[]>
  isUnwellAlone: boolean
} {
  const { connected, disconnected, leaving, all_unhealthy: sick } = bars
  const degraded = bars.degraded.map((count, at) => count - (sick[at] ?? 0))
  const unwell = connected.map((_, at) =>
    [degraded, sick, disconnected, leaving].reduce((sum, counts) => sum + (counts[at] ?? 0), 0),
  )
  const isUnwellAlone =
    unwell.some((count) => count > 0) &&
    unwell.every((count, at) => count <= ALONE_BELOW * (count + (connected[at] ?? 0)))
  return {
    values: {
      connected: isUnwellAlone ? connected.map(() => 0) : connected,
      degraded,
      all_unhealthy: sick,
      disconnected,
      leaving,
    },
    isUnwellAlone,
  }
}

/** How bad it is now: a loud trouble or a critical alert is, an alert whose cause has gone is nothing. */
function toneNow({ loud_count: loud, troubled_count: troubled, alerts }: FleetSummary): Tone {
  if (loud > 0 || alerts.critical_count > 0) return 'bad'
  return troubled > 0 || alerts.open_count > alerts.over_count ? 'warn' : 'ok'
}

/** What the one sentence about the fleet is made of. */
export interface FleetVerdict {
  now: FleetSummary
  /** Changes that touched instances, and those among them that failed or stand still; null: nobody could read them. */
  changeCount: number | null
  badChangeCount: number
  /** Changes among them that wait for somebody's decision. */
  haltedCount: number
  /** Changes among them of which nobody knows the end yet, as while nobody answers. */
  openCount: number
  /** Changes among them since which instances are unhealthy: each may be applied everywhere, and be what broke it. */
  brokeCount: number
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
  now: FleetSummary,
  changes: readonly ChangeRecord[] | null,
  hasMoreChanges: boolean,
): FleetVerdict {
  if (changes === null)
    return {
      now,
      changeCount: null,
      badChangeCount: 0,
      haltedCount: 0,
      openCount: 0,
      brokeCount: 0,
      hasMoreChanges: false,
    }
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
    brokeCount: made.filter(({ unhealthy_since: trouble }) => trouble !== undefined).length,
  }
}

/** How bad it is now. A change that failed and was made good since is told, but it is over. */
export function toneOf({ now, haltedCount }: FleetVerdict): Tone {
  const tone = toneNow(now)
  return tone === 'ok' && haltedCount > 0 ? 'warn' : tone
}
