import { LATE_MS, OWNER_FRESH_MS, RENEW_MS } from '../../../lib/cluster/timing.ts'
import type { Client, SimDatabase } from '../database/sim-database.ts'
import type { VirtualTime } from '../time/virtual-time.ts'

/**
 * What a process knows of itself as a member: when it last renewed itself, and whether it stood still. It keeps the
 * times of `Membership`, whose statements ask the database for its own clock, which virtual time cannot move.
 */
export class Standing {
  readonly #time: VirtualTime
  readonly #database: SimDatabase
  readonly #client: Client
  readonly #onLate: () => void
  readonly #onRenewed: () => void
  #renewedMs = Number.NEGATIVE_INFINITY
  #tickMs: number

  constructor(parts: {
    time: VirtualTime
    database: SimDatabase
    client: Client
    onLate(): void
    onRenewed(): void
  }) {
    this.#time = parts.time
    this.#database = parts.database
    this.#client = parts.client
    this.#onLate = parts.onLate
    this.#onRenewed = parts.onRenewed
    this.#tickMs = parts.time.nowMs
    this.#tick()
  }

  /** Whether the process, as the owner, may commit and send now. */
  mayAct(): boolean {
    return this.#time.nowMs - this.#renewedMs < OWNER_FRESH_MS
  }

  #tick(): void {
    const nowMs = this.#time.nowMs
    const isLate = nowMs - this.#tickMs > RENEW_MS + LATE_MS
    this.#tickMs = nowMs
    if (isLate) this.#onLate()
    this.#database.pass(this.#client).then(
      () => {
        this.#renewedMs = nowMs
        this.#onRenewed()
      },
      () => undefined,
    )
    this.#time.after(RENEW_MS, () => this.#tick(), this.#client)
  }
}
