import type { EventType } from '../../store/workload-events.ts'
import type { EventStats, EventStatsWindow, FleetActivity } from '../../wire/events.ts'

/** How long each window is, and each of its buckets. */
export const WINDOWS: Readonly<Record<EventStatsWindow, { seconds: number; bucketSeconds: number }>> = {
  '1h': { seconds: 3_600, bucketSeconds: 60 },
  '6h': { seconds: 21_600, bucketSeconds: 300 },
  '24h': { seconds: 86_400, bucketSeconds: 3_600 },
  '7d': { seconds: 604_800, bucketSeconds: 21_600 },
}

/** When a window begins: its buckets end on the hour or the like, so that what happened at 23:00 is drawn there. */
export function beginOf(window: EventStatsWindow, now: Date): Date {
  const { seconds, bucketSeconds } = WINDOWS[window]
  const bucketMs = bucketSeconds * 1_000
  return new Date(Math.ceil(now.getTime() / bucketMs) * bucketMs - seconds * 1_000)
}

/** Whether an event is one of coming, going and growing, which are counted. */
const isCounted = (type: EventType): type is 'connected' | 'disconnected' | 'version_changed' =>
  !type.startsWith('config_')

/** The totals of a window and its buckets, empty ones included. */
export function toEventStats(
  window: EventStatsWindow,
  since: Date,
  counts: readonly { bucket: number; eventType: EventType; count: number }[],
): EventStats {
  const { seconds, bucketSeconds } = WINDOWS[window]
  const buckets = Array.from({ length: seconds / bucketSeconds }, (_, index) => ({
    start: new Date(since.getTime() + index * bucketSeconds * 1_000).toISOString(),
    connected: 0,
    disconnected: 0,
    version_changed: 0,
  }))
  const totals = { connected: 0, disconnected: 0, version_changed: 0 }
  for (const { bucket, eventType, count } of counts) {
    if (!isCounted(eventType)) continue
    totals[eventType] += count
    // An event that happened during the query counts in the last bucket.
    buckets[Math.min(Math.max(bucket, 0), buckets.length - 1)]![eventType] += count
  }
  return {
    ...totals,
    churn_rate_per_hour: totals.disconnected / (seconds / 3_600),
    window,
    bucket_seconds: bucketSeconds,
    buckets,
  }
}

/** The events of several workloads in each bucket of a window, in the order of `workloadIds`. */
export function toFleetActivity(
  window: EventStatsWindow,
  since: Date,
  workloadIds: readonly string[],
  counts: readonly { workloadId: string; bucket: number; count: number }[],
): FleetActivity {
  const { seconds, bucketSeconds } = WINDOWS[window]
  const length = seconds / bucketSeconds
  const eventsOf = new Map(workloadIds.map((id) => [id, new Array<number>(length).fill(0)]))
  for (const { workloadId, bucket, count } of counts) {
    const events = eventsOf.get(workloadId)
    // An event that happened during the query counts in the last bucket.
    if (events !== undefined) events[Math.min(Math.max(bucket, 0), length - 1)]! += count
  }
  return {
    window,
    bucket_seconds: bucketSeconds,
    since: since.toISOString(),
    workloads: [...eventsOf].map(([workload_id, events]) => ({ workload_id, events })),
  }
}
