import type { Clock } from '../clock.ts'
import { type Random, uuidv7 } from '../ids.ts'
import type { Log } from '../log.ts'
import { type Database, DatabaseUnavailable, type Db } from '../store/db.ts'
import {
  ATTEMPTS_MAX,
  claimDelivery,
  deleteDelivery,
  dropStaleDeliveries,
  insertDeliveries,
  nextDueAt,
  type WebhookDelivery,
} from '../store/webhook-deliveries.ts'
import { postWebhook, type WebhookNetwork } from './webhook-client.ts'
import { checkWebhookUrl } from './webhook-url.ts'

/** A delivery that is older is given up; all attempts at one are made before. */
export const DELIVERY_AGE_MAX_MS = 15 * 60_000
/** Seconds from an attempt to the next: after the first, the second, and the last, when nothing follows. */
const DELAYS_SECONDS = [60, 300, 0] as const
/** How often deliveries that are too old are looked for, and any that this process knows nothing of. */
const STALE_LOOK_MS = 60_000
/** For so long after a delivery was said to be owed it is looked for: its transaction may not be over yet. */
const OWED_LOOK_MS = 30_000
/** The most calls at one time; the other deliveries wait in their table. */
const CALLS_MAX = 4

/** What webhook deliveries are made of. */
export interface WebhookDeliveryParts {
  db: Database
  clock: Clock
  random: Random
  log: Log
  /** As configured; empty when there is no webhook. */
  url: string
  network: WebhookNetwork
}

/**
 * Makes the webhook calls that are due, for alerts and for news of changes: each delivery is tried until it succeeds,
 * at most `ATTEMPTS_MAX` times, and may arrive twice. At most `CALLS_MAX` calls run at one time.
 */
export class WebhookDeliveries {
  readonly #parts: WebhookDeliveryParts
  readonly #url: string | null
  /** Set while the database is away, so that the log says so once in an outage. */
  #isDatabaseAway = false
  #staleLookedAt = Number.NEGATIVE_INFINITY
  #owedUntilMs = Number.NEGATIVE_INFINITY
  /** When the next delivery that was there at the last look is due. */
  #nextDueAt: Date | null = null
  /** Whether news are taken next, where both wait. */
  #isTurnOfNews = true
  /** How many calls succeeded, failed and will be tried again, or failed for the last time; for the metrics. */
  readonly stats = { delivered: 0, failed: 0, given_up: 0 }

  /** A URL that breaks the policy is logged here, and then there is no webhook. */
  constructor(parts: WebhookDeliveryParts) {
    this.#parts = parts
    const checked = parts.url === '' ? null : checkWebhookUrl(parts.url, null, parts.network.judgeAddress)
    if (checked !== null && !checked.ok) {
      parts.log.error({ reason: checked.code }, 'WEBHOOK_URL is refused: alerts are not sent anywhere')
    }
    this.#url = checked?.ok ? parts.url : null
  }

  /** Store deliveries that are due at once, where there is a webhook, in the transaction of what they tell of. */
  async owe(
    tx: Db,
    told: readonly { alertId: string; body: string; isNews?: boolean }[],
    now: Date,
  ): Promise<void> {
    if (this.#url === null || told.length === 0) return
    this.#owedUntilMs = this.#parts.clock.monotonicMs() + OWED_LOOK_MS
    const owed = told.map((one) => ({ id: uuidv7(now, this.#parts.random), ...one }))
    await insertDeliveries(tx, owed, now)
  }

  /** Make every call that is due. Failures are logged; while the database is away the deliveries wait. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#deliver(signal)
      this.#isDatabaseAway = false
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error
      if (!this.#isDatabaseAway)
        this.#parts.log.warn({ err: error }, 'webhook deliveries wait for the database')
      this.#isDatabaseAway = true
    }
  }

  async #deliver(signal: AbortSignal): Promise<void> {
    const { db, clock, log } = this.#parts
    const now = clock.now()
    // Either direction: after the clock was put back, do not wait until it reaches the old time again.
    const isLookDue = Math.abs(now.getTime() - this.#staleLookedAt) >= STALE_LOOK_MS
    const isAnyDue =
      (this.#nextDueAt !== null && this.#nextDueAt <= now) || clock.monotonicMs() < this.#owedUntilMs
    if (isLookDue) {
      const oldest = new Date(now.getTime() - DELIVERY_AGE_MAX_MS)
      const stale = await db.transaction('webhook.drop-stale', (tx) => dropStaleDeliveries(tx, oldest, now))
      this.#staleLookedAt = now.getTime()
      if (stale > 0) log.warn({ count: stale }, 'webhook deliveries given up: not delivered in time')
    }
    const url = this.#url
    if (url === null || !(isLookDue || isAnyDue)) return
    // Until a look has ended without one, there may be more.
    this.#nextDueAt = now
    const first = await this.#claim(now)
    if (first !== null) {
      const others = Array.from({ length: CALLS_MAX - 1 }, () => this.#work(url, signal))
      await Promise.all([this.#attempt(url, first, signal).then(() => this.#work(url, signal)), ...others])
    }
    this.#nextDueAt = await nextDueAt(db)
  }

  /** Take one delivery after the other until none is due. */
  async #work(url: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const delivery = await this.#claim(this.#parts.clock.now())
      if (delivery === null) return
      await this.#attempt(url, delivery, signal)
    }
  }

  /**
   * Take a delivery, as the owner only: a process that is about to stop would use up an attempt for nothing. News and
   * alerts take turns: of either there may be thousands, and none of these keeps the other waiting.
   */
  #claim(now: Date): Promise<WebhookDelivery | null> {
    const newsFirst = this.#isTurnOfNews
    this.#isTurnOfNews = !newsFirst
    return this.#parts.db.transaction('webhook.claim', (tx) =>
      claimDelivery(tx, now, DELAYS_SECONDS, newsFirst),
    )
  }

  async #attempt(url: string, delivery: WebhookDelivery, signal: AbortSignal): Promise<void> {
    const { db, clock, log, network } = this.#parts
    const fields = { alert_id: delivery.alertId, attempt: delivery.attempts }
    if (clock.now().getTime() - delivery.createdAt.getTime() > DELIVERY_AGE_MAX_MS) {
      log.warn(fields, 'webhook delivery given up: not delivered in time')
      // Not fenced: its age is the same for each process.
      await deleteDelivery(db, delivery.id)
      return
    }
    const outcome = await postWebhook(url, new TextEncoder().encode(delivery.body), network, signal)
    // The call was cut off because this process stops: the next process makes the next attempt.
    if (!outcome.ok && signal.aborted) return
    const isLast = delivery.attempts >= ATTEMPTS_MAX
    this.stats[outcome.ok ? 'delivered' : isLast ? 'given_up' : 'failed']++
    if (outcome.ok) log.info({ ...fields, status: outcome.status }, 'delivered to the webhook')
    else if (isLast) log.error({ ...fields, outcome }, 'webhook delivery given up after the last attempt')
    else log.warn({ ...fields, outcome }, 'webhook delivery failed and will be tried again')
    // Not fenced: the call was made, and a new owner that kept the delivery would make it again.
    if (outcome.ok || isLast) await deleteDelivery(db, delivery.id)
  }
}
