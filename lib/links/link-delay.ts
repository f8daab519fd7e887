import type { Clock } from '../clock.ts'

/** Tells how late the batches of one link come. Both ends of a link have a monotonic clock of their own. */
export class LinkDelay {
  readonly #clock: Clock
  /**
   * This monotonic clock less that of the other end, as the quickest batch shows it; includes the time that the batch
   * was under way.
   */
  #skewMs = Number.POSITIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many milliseconds longer a batch of this time was under way than the quickest one of this link. */
  of(atMs: number): number {
    const differenceMs = this.#clock.monotonicMs() - atMs
    this.#skewMs = Math.min(this.#skewMs, differenceMs)
    return differenceMs - this.#skewMs
  }
}
