import { columns } from './columns.ts'
import type { Db } from './db.ts'

/** One POST that the webhook is still owed. */
export interface WebhookDelivery {
  id: string
  /** Of the alert, the request or the campaign that it is about. */
  alertId: string
  body: string
  /** The attempts made, the one that is about to be made included. */
  attempts: number
  createdAt: Date
}

const DELIVERY = columns<keyof WebhookDelivery>({
  id: 'id',
  alertId: 'alert_id',
  body: 'body',
  attempts: 'attempts',
  createdAt: 'created_at',
})

/** The most attempts at one delivery. */
export const ATTEMPTS_MAX = 3

/**
 * Whether its turn has come: what tells of the same alert, request or campaign goes out in the order in which it
 * happened, so that no approval is heard of before its request.
 */
const HAS_ITS_TURN = `not exists (
  select from webhook_deliveries e where e.alert_id = d.alert_id and e.seq < d.seq)`

/** Add deliveries that are due at once. News and what is no news take turns. */
export async function insertDeliveries(
  tx: Db,
  deliveries: readonly { id: string; alertId: string; body: string; isNews?: boolean }[],
  now: Date,
): Promise<void> {
  await tx.execute(
    `insert into webhook_deliveries (id, alert_id, body, is_news, created_at, attempts, next_attempt_at)
     select id, alert_id, body, is_news, $5, 0, $5
     from unnest($1::uuid[], $2::text[], $3::text[], $4::boolean[]) as d (id, alert_id, body, is_news)`,
    [
      deliveries.map((one) => one.id),
      deliveries.map((one) => one.alertId),
      deliveries.map((one) => one.body),
      deliveries.map((one) => one.isNews ?? false),
      now,
    ],
  )
}

/**
 * Take the delivery that has been due longest, its attempt counted: of the news before one of the alerts, or, without
 * `newsFirst`, the other way round. Null when none is due. None is while an earlier one
 * about the same has not ended. It is due again
 * after the delay of its attempt, in seconds: the first delay after the first attempt, and so on. One that is due
 * over a minute later than any delay can be is due now: the clock was put back. Less than that proves nothing, as
 * whoever claimed it may have read the clock a little later than this caller.
 *
 * The one that is due is looked for once: in a plain subquery a planner that takes the table to be nearly empty would
 * look again for each of its rows, and count attempts that nobody makes.
 */
export async function claimDelivery(
  tx: Db,
  now: Date,
  delaysSeconds: readonly number[],
  newsFirst = true,
): Promise<WebhookDelivery | null> {
  for (const isNews of [newsFirst, !newsFirst]) {
    const found = await claimOf(tx, now, delaysSeconds, isNews)
    if (found !== null) return found
  }
  return null
}

/** The delivery that is due first, of news or of alerts. */
async function claimOf(
  tx: Db,
  now: Date,
  delaysSeconds: readonly number[],
  isNews: boolean,
): Promise<WebhookDelivery | null> {
  const rows = await tx.query<WebhookDelivery>(
    `with due as materialized (
       select id from webhook_deliveries d
       where attempts < ${ATTEMPTS_MAX} and is_news = $3 and ${HAS_ITS_TURN} and
         (next_attempt_at <= $1 or
          next_attempt_at > $1::timestamptz + make_interval(mins => 1, secs => (select max(s) from unnest($2::int[]) s)))
       order by next_attempt_at, id limit 1 for update skip locked
     )
     update webhook_deliveries d
     set attempts = d.attempts + 1,
       next_attempt_at = $1::timestamptz + make_interval(secs => ($2::int[])[d.attempts + 1])
     from due
     where d.id = due.id
     returning ${DELIVERY.select('d')}`,
    [now, delaysSeconds, isNews],
  )
  return rows[0] ?? null
}

/** When the next delivery is due; null when none waits to be tried. */
export async function nextDueAt(db: Db): Promise<Date | null> {
  const rows = await db.query<{ at: Date | null }>(
    `select min(next_attempt_at) as at from webhook_deliveries d
     where attempts < ${ATTEMPTS_MAX} and ${HAS_ITS_TURN}`,
  )
  return rows[0]?.at ?? null
}

/** Remove a delivery that has succeeded, or that nobody tries again. */
export async function deleteDelivery(db: Db, id: string): Promise<void> {
  await db.execute(`delete from webhook_deliveries where id = $1`, [id])
}

/** Give up deliveries older than `createdBefore`, and those whose last attempt got no verdict; returns how many. */
export async function dropStaleDeliveries(tx: Db, createdBefore: Date, now: Date): Promise<number> {
  return tx.execute(
    `delete from webhook_deliveries where created_at < $1 or (attempts >= ${ATTEMPTS_MAX} and next_attempt_at <= $2)`,
    [createdBefore, now],
  )
}
