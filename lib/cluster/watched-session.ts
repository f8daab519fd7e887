import type { Clock } from '../clock.ts'
import type { Timers } from '../fleet/state/timers.ts'
import type { Connection } from '../store/connection.ts'
import { DatabaseUnavailable } from '../store/db.ts'

/** What a watched session is made of. */
export interface WatchedSessionParts {
  /** Opens a session. */
  connect(): Promise<Connection>
  /** A question is given up after so long. */
  giveUpMs: number
  clock: Clock
  timers: Timers
  /** The database has answered again: the first question of those that were given up until then began at this time. */
  onHeardAgain(sinceMs: number): void
}

/**
 * A session of the database for questions that are to be answered soon. One that is not is given up together with its
 * session, and the next question is asked on a new one.
 */
export class WatchedSession {
  readonly #parts: WatchedSessionParts
  #connection: Connection | null = null
  #isClosed = false
  /** When the first question began that was given up since the last answer; null where none was. */
  #unheardSinceMs: number | null = null

  constructor(parts: WatchedSessionParts) {
    this.#parts = parts
  }

  /** Whether it has a session that may answer. */
  get isOpen(): boolean {
    return this.#connection?.isBroken === false
  }

  /** Ask the database something. */
  async ask<T>(question: (connection: Connection) => Promise<T>): Promise<T> {
    const { clock, timers, giveUpMs, onHeardAgain } = this.#parts
    const startedMs = clock.monotonicMs()
    const cancel = timers.after(giveUpMs, () => {
      if (this.#connection === null) return
      this.#unheardSinceMs ??= startedMs
      void this.#connection.close()
    })
    try {
      const answer = await question(await this.#open())
      if (this.#unheardSinceMs !== null) onHeardAgain(this.#unheardSinceMs)
      this.#unheardSinceMs = null
      return answer
    } finally {
      cancel()
    }
  }

  /** End the session; what is asked from now on is refused. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#connection?.close()
  }

  async #open(): Promise<Connection> {
    if (this.#isClosed) throw new DatabaseUnavailable('this session is closed')
    if (this.isOpen) return this.#connection!
    this.#connection = null
    const connection = await this.#parts.connect()
    if (this.#isClosed) await connection.close()
    else this.#connection = connection
    return connection
  }
}
