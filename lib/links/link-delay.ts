import type { Clock } from '../clock.ts'

/** How long the quickest batch is remembered, and at most twice that: the clocks of two machines drift apart. */
const REMEMBERED_MS = 60_000

/**
 * Tells how late the batches of one link come, so that nothing is taken for fresh that was under way for long: an offer
 * that another owner may have taken back, a poll or a goodbye after which the agent may have gone on. Both ends have a
 * monotonic clock of their own, so one end alone cannot tell a slow link from a clock that is behind. Each tells the other
 * how quick it seems from there; both together are what the quickest batch takes there and back.
 */
export class LinkDelay {
  readonly #clock: Clock
  /** The least differences of the present time of REMEMBERED_MS and of the one before. */
  #quickest = Number.POSITIVE_INFINITY
  #formerQuickest = Number.POSITIVE_INFINITY
  #sinceMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#sinceMs = clock.monotonicMs()
  }

  /**
   * This monotonic clock less that of the other end, as the quickest batch lately shows it, the time that it was under way
   * included. Null before the first batch.
   */
  get quickestMs(): number | null {
    const quickest = Math.min(this.#quickest, this.#formerQuickest)
    return Number.isFinite(quickest) ? quickest : null
  }

  /**
   * How many milliseconds a batch of this time was under way at most. Where the other end has not said how quick this one
   * seems there, how many longer than the quickest one.
   */
  of({ atMs, quickestMs }: { atMs: number; quickestMs?: number | null }): number {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#sinceMs >= REMEMBERED_MS) {
      this.#formerQuickest = this.#quickest
      this.#quickest = Number.POSITIVE_INFINITY
      this.#sinceMs = nowMs
    }
    this.#quickest = Math.min(this.#quickest, nowMs - atMs)
    return Math.max(0, nowMs - atMs + (quickestMs ?? -this.quickestMs!))
  }
}
