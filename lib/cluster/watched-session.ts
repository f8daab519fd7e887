import type { Clock } from '../clock.ts'
import type { Timers } from '../fleet/state/timers.ts'
import type { Connection } from '../store/connection.ts'
import { DatabaseUnavailable } from '../store/db.ts'

/** What a watched session is made of. */
export interface WatchedSessionParts {
  /** Opens a session. */
  connect(): Promise<Connection>
  /** A question is given up after so long; so is one for which no session was opened by then. */
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
  /** The session that is being opened; where that takes too long, it is for a later question. */
  #opening: Promise<Connection> | null = null
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
    const connection = await this.#inTime(this.#open())
    const answer = await this.#answer(connection, question)
    if (this.#unheardSinceMs !== null) this.#parts.onHeardAgain(this.#unheardSinceMs)
    this.#unheardSinceMs = null
    return answer
  }

  /** End the session; what is asked from now on is refused. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#connection?.close()
  }

  #open(): Promise<Connection> {
    if (this.#isClosed) return Promise.reject(new DatabaseUnavailable('this session is closed'))
    if (this.isOpen) return Promise.resolve(this.#connection!)
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  async #connect(): Promise<Connection> {
    this.#connection = null
    const connection = await this.#parts.connect()
    if (this.#isClosed) await connection.close()
    else this.#connection = connection
    return connection
  }

  /** The session, where it is opened in time. One that comes later is for the next question. */
  #inTime(opening: Promise<Connection>): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const cancel = this.#giveUpLater(() => reject(new DatabaseUnavailable('no session was opened in time')))
      opening.then(resolve, reject).finally(cancel)
    })
  }

  /** The answer to a question; its session is ended where that does not come in time. */
  async #answer<T>(connection: Connection, question: (connection: Connection) => Promise<T>): Promise<T> {
    const cancel = this.#giveUpLater(() => void connection.close())
    try {
      return await question(connection)
    } finally {
      cancel()
    }
  }

  /** Give something up that begins now, unless it is cancelled in time. */
  #giveUpLater(giveUp: () => void): () => void {
    const { clock, timers, giveUpMs } = this.#parts
    const startedMs = clock.monotonicMs()
    return timers.after(giveUpMs, () => {
      this.#unheardSinceMs ??= startedMs
      giveUp()
    })
  }
}
