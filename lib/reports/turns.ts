/** How many reports may be read from the database at once: each holds a connection of the pool while it is read. */
export const REPORTS_AT_ONCE = 4

/** Counts the reports that are being read. */
export class ReportTurns {
  #taken = 0

  /** Take a turn; false when all are taken, and then the caller answers `server-busy`. */
  take(): boolean {
    if (this.#taken >= REPORTS_AT_ONCE) return false
    this.#taken++
    return true
  }

  /** How many turns are taken now. */
  get taken(): number {
    return this.#taken
  }

  give(): void {
    this.#taken--
  }
}
