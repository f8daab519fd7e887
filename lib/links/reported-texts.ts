import type { Clock } from '../clock.ts'
import type { Timers } from '../fleet/state/timers.ts'
import type { Log } from '../log.ts'
import { DatabaseUnavailable, type Db } from '../store/db.ts'
import { type ReportedConfig, storeReportedConfigs } from '../store/reported-configs.ts'

/** The most that may wait to be stored; an agent whose config does not fit is asked for it again later. */
const WAITING_BYTES_MAX = 33_554_432
const STORE_MS = 250
const RETRY_MS = 1_000
const STORED_AT_ONCE = 100

/**
 * Stores the normal forms of effective configs that a front has read. They are stored under the hash of their text, so
 * any process may store them, and no fence is needed.
 */
export class ReportedTexts {
  readonly #parts: { db: Db; clock: Clock; timers: Timers; log: Log }
  readonly #waiting = new Map<string, ReportedConfig>()
  #bytes = 0
  #atOnce = STORED_AT_ONCE
  /** The batch that is being stored; null for none. */
  #storing: Promise<void> | null = null
  #isScheduled = false

  constructor(parts: { db: Db; clock: Clock; timers: Timers; log: Log }) {
    this.#parts = parts
  }

  get hasRoomForConfigs(): boolean {
    return this.#bytes < WAITING_BYTES_MAX
  }

  /** Queue a config to be stored; false when there is no room. */
  reportedConfig(config: ReportedConfig): boolean {
    if (this.#waiting.has(config.hash)) return true
    if (!this.hasRoomForConfigs) return false
    this.#waiting.set(config.hash, config)
    this.#bytes += config.body.length
    this.#schedule(STORE_MS)
    return true
  }

  /** Store all that waits, batch by batch, until there is none or a batch fails. */
  async storeAll(): Promise<void> {
    let before: number
    do {
      before = this.#waiting.size
      await this.store()
    } while (this.#waiting.size > 0 && this.#waiting.size < before)
  }

  /** Store the next batch of what waits, and schedule the rest. Where one is being stored, wait for that. */
  store(): Promise<void> {
    this.#storing ??= this.#storeBatch().finally(() => {
      this.#storing = null
    })
    return this.#storing
  }

  async #storeBatch(): Promise<void> {
    if (this.#waiting.size === 0) return
    const { db, clock, log } = this.#parts
    const batch = [...this.#waiting.values()].slice(0, this.#atOnce)
    try {
      await storeReportedConfigs(db, batch, clock.now())
      this.#atOnce = STORED_AT_ONCE
      this.#forget(batch)
      if (this.#waiting.size > 0) this.#schedule(0)
    } catch (error) {
      log.warn(
        { cause: (error as Error).message, count: batch.length },
        'effective configs are not stored yet',
      )
      // Where the database refuses a batch, go on one by one, and drop the one that it refuses alone.
      const isRefused = !(error instanceof DatabaseUnavailable)
      if (isRefused && batch.length === 1) this.#forget(batch)
      this.#atOnce = isRefused ? 1 : STORED_AT_ONCE
      this.#schedule(RETRY_MS)
    }
  }

  #forget(configs: readonly ReportedConfig[]): void {
    for (const { hash, body } of configs) {
      this.#waiting.delete(hash)
      this.#bytes -= body.length
    }
  }

  #schedule(delayMs: number): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#parts.timers.after(delayMs, () => {
      this.#isScheduled = false
      void this.store()
    })
  }
}
