/** How long transactions of one name held the lock of the audit chain. */
interface Holds {
  count: number
  totalMs: number
  /** Of all since they were last taken. */
  longestMs: number
}

/** Transactions that record for many workloads at once. They are measured from the start, with 0 before the first. */
const MANY_RECORDS = ['campaign.push', 'auto-apply.push']

/**
 * Counts how long transactions held the lock of the audit chain, from getting it to their end. Everything that writes
 * an audit record meanwhile waits for it.
 */
export class AuditLockHolds {
  readonly #holds = new Map<string, Holds>(
    MANY_RECORDS.map((transaction) => [transaction, { count: 0, totalMs: 0, longestMs: 0 }]),
  )

  /** A transaction of this name has ended that held the lock for so long. */
  note(transaction: string, ms: number): void {
    const { count, totalMs, longestMs } = this.#holds.get(transaction) ?? {
      count: 0,
      totalMs: 0,
      longestMs: 0,
    }
    this.#holds.set(transaction, {
      count: count + 1,
      totalMs: totalMs + ms,
      longestMs: Math.max(longestMs, ms),
    })
  }

  /** The holds by transaction; the longest begin anew with this. */
  take(): [transaction: string, holds: Readonly<Holds>][] {
    const taken = [...this.#holds]
    for (const [transaction, holds] of taken) this.#holds.set(transaction, { ...holds, longestMs: 0 })
    return taken
  }
}
