import type { Presence } from '../model/presence.ts'
import type { Db } from './db.ts'

/** How many workloads are how; those of which all instances are unhealthy are among the degraded. */
export type HealthCounts = Record<Presence | 'all_unhealthy', number>

/** What is compared first of two counts: the higher is the worse. */
export const WORST_FIRST = ['disconnected', 'all_unhealthy', 'degraded', 'leaving'] as const

const worstFirst = (write: (key: (typeof WORST_FIRST)[number]) => string): string =>
  WORST_FIRST.map(write).join(', ')

/** Keep how the fleet is in a stretch that begins at a moment: the worst of its counts stays. */
export async function storeHealth(tx: Db, at: Date, counts: HealthCounts): Promise<void> {
  await tx.execute(
    `insert into fleet_health (at, connected, degraded, all_unhealthy, disconnected, leaving)
     values ($1, $2, $3, $4, $5, $6) on conflict (at) do update set
       (connected, degraded, all_unhealthy, disconnected, leaving) = (excluded.connected, excluded.degraded,
         excluded.all_unhealthy, excluded.disconnected, excluded.leaving)
     where (${worstFirst((key) => `excluded.${key}`)}) > (${worstFirst((key) => `fleet_health.${key}`)})`,
    [at, counts.connected, counts.degraded, counts.all_unhealthy, counts.disconnected, counts.leaving],
  )
}

/** Remove what was kept before a moment. */
export async function trimHealth(tx: Db, before: Date): Promise<number> {
  return tx.execute(`delete from fleet_health where at < $1`, [before])
}

/**
 * The worst count of each bucket since a moment, so that a short outage is not averaged away; empty ones are left out.
 */
export async function listWorstHealth(
  db: Db,
  since: Date,
  bucketSeconds: number,
): Promise<(HealthCounts & { bucket: number })[]> {
  return db.query<HealthCounts & { bucket: number }>(
    `select distinct on (bucket) bucket, connected, degraded, all_unhealthy, disconnected, leaving from (
       select floor(extract(epoch from at - $1::timestamptz) / $2)::int as bucket, at, connected, degraded, all_unhealthy,
         disconnected, leaving
       from fleet_health where at >= $1) counted
     order by bucket, ${worstFirst((key) => `${key} desc`)}, at`,
    [since, bucketSeconds],
  )
}
