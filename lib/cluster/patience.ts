import { OUTAGE_PATIENCE_MS } from './timing.ts'

/**
 * How long the silence of other members means nothing to one. While the database is away nobody can renew a row, so after
 * an outage all are silent, and who lives has to get the time to say so. A member knows of an outage when it could not
 * renew its own row; one that has just begun cannot know whether there was one.
 */
export class Patience {
  #untilMs = Number.NEGATIVE_INFINITY

  /** The member begins, or could not renew its row until now. */
  begin(nowMs: number): void {
    this.#untilMs = nowMs + OUTAGE_PATIENCE_MS
  }

  /** Everybody has been heard, and the owner has its lock: nothing is left to wait for. */
  end(): void {
    this.#untilMs = Number.NEGATIVE_INFINITY
  }

  lasts(nowMs: number): boolean {
    return nowMs < this.#untilMs
  }
}
