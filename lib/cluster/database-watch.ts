import type { Timers } from '../fleet/state/timers.ts'
import { OWNER_FRESH_MS, RENEW_MS } from './timing.ts'
import { WatchedSession, type WatchedSessionParts } from './watched-session.ts'

/** What a watch is made of. */
export interface DatabaseWatchParts extends Omit<WatchedSessionParts, 'giveUpMs'> {
  /** Called each time that the database has answered. */
  onAnswered(): void
  timers: Timers
}

/**
 * Asks the database each second, on a session of its own, whether it answers. A process that is alone has no renewals that
 * would tell it that sessions hang.
 */
export class DatabaseWatch {
  readonly #parts: DatabaseWatchParts
  readonly #session: WatchedSession
  #isAsking = false
  #isStopped = false

  constructor(parts: DatabaseWatchParts) {
    this.#parts = parts
    this.#session = new WatchedSession({ ...parts, giveUpMs: OWNER_FRESH_MS })
  }

  start(): void {
    if (this.#isStopped) return
    if (!this.#isAsking) void this.#ask()
    this.#parts.timers.after(RENEW_MS, () => this.start())
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#session.close()
  }

  async #ask(): Promise<void> {
    this.#isAsking = true
    try {
      await this.#session.ask((connection) => connection.query('SELECT 1'))
      this.#parts.onAnswered()
    } catch {
      // Whoever needs the database says in the log that it is away.
    } finally {
      this.#isAsking = false
    }
  }
}
