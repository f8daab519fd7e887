import type { Clock } from '../clock.ts'
import type { Workload } from '../fleet/state/model.ts'
import type { Database } from '../store/db.ts'
import {
  type HealthCounts,
  listWorstHealth,
  storeHealth,
  trimHealth,
  WORST_FIRST,
} from '../store/fleet-health.ts'
import type { EventStatsWindow } from '../wire/events.ts'
import type { FleetHealth } from '../wire/fleet-health.ts'

/** How often the fleet is counted: a loss is seen that is over soon. */
export const COUNT_EVERY_MS = 15_000
/** How long a stretch is of which the worst count is kept. */
const STRETCH_MS = 300_000
/** How long counts are kept: the longest window that is drawn. */
const KEPT_MS = 7 * 86_400_000

/** How long each window is, and each of its buckets. */
const WINDOWS: Readonly<Record<EventStatsWindow, { seconds: number; bucketSeconds: number }>> = {
  '1h': { seconds: 3_600, bucketSeconds: 300 },
  '6h': { seconds: 21_600, bucketSeconds: 300 },
  '24h': { seconds: 86_400, bucketSeconds: 1_800 },
  '7d': { seconds: 604_800, bucketSeconds: 10_800 },
}

const floorTo = (ms: number, stepMs: number): Date => new Date(Math.floor(ms / stepMs) * stepMs)

/** Keep how the fleet is now, of each five minutes the worst, and drop what is older than a week. */
export async function keepHealth(
  db: Database,
  clock: Clock,
  { workloads, count }: { workloads: ReadonlyMap<string, Workload>; count: () => Promise<HealthCounts> },
): Promise<void> {
  // A fleet that nobody has connected to has no health.
  if (workloads.size === 0) return
  const counts = await count()
  const nowMs = clock.now().getTime()
  await db.transaction('overview.health', async (tx) => {
    await storeHealth(tx, floorTo(nowMs, STRETCH_MS), counts)
    await trimHealth(tx, new Date(nowMs - KEPT_MS))
  })
}

function isWorse(a: HealthCounts, b: HealthCounts): boolean {
  const key = WORST_FIRST.find((one) => a[one] !== b[one])
  return key !== undefined && a[key] > b[key]
}

/**
 * How the fleet was over a window that ends with the present bucket, in which how it is now counts as well; null where
 * it has no workloads.
 */
export async function readHealth(
  db: Database,
  now: Date,
  window: EventStatsWindow,
  present: HealthCounts | null,
): Promise<FleetHealth> {
  const { seconds, bucketSeconds } = WINDOWS[window]
  const count = seconds / bucketSeconds
  const last = floorTo(now.getTime(), bucketSeconds * 1_000)
  const since = new Date(last.getTime() - (count - 1) * bucketSeconds * 1_000)
  const stored = await listWorstHealth(db, since, bucketSeconds)
  const running = stored.find(({ bucket }) => bucket === count - 1)
  const known =
    present === null || (running !== undefined && !isWorse(present, running))
      ? stored
      : [...stored.filter((one) => one !== running), { ...present, bucket: count - 1 }]
  return {
    window,
    bucket_seconds: bucketSeconds,
    since: since.toISOString(),
    buckets: known
      .filter(({ bucket }) => bucket < count)
      .map(({ bucket, ...counts }) => ({
        start: new Date(since.getTime() + bucket * bucketSeconds * 1_000).toISOString(),
        ...counts,
      })),
  }
}
