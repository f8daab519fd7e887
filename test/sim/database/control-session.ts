import type { Connection } from '../../../lib/store/connection.ts'
import { DatabaseUnavailable } from '../../../lib/store/db.ts'
import { ASK_FOR_LOCK, ASK_WHO_HOLDS_IT, RAISE_EPOCH } from '../../../lib/store/lock-statements.ts'
import type { RealSession, RealSessions } from './real-sessions.ts'
import type { Client, SimDatabase } from './sim-database.ts'

/**
 * Remembers the answers that standbys got about the process lock. They ask the same two questions over and over; the
 * answers stay the same until a control session begins, ends or gets the lock.
 */
export class LockAnswers {
  readonly #rows = new Map<string, object[]>()

  forget(): void {
    this.#rows.clear()
  }

  get(text: string): object[] | undefined {
    return this.#rows.get(text)
  }

  /** Keep the answer of a process that did not get the lock; anything else makes the kept answers out of date. */
  heard(text: string, rows: readonly object[]): void {
    const isRefused = text === ASK_FOR_LOCK && (rows[0] as { taken?: boolean } | undefined)?.taken === false
    if (isRefused || text === ASK_WHO_HOLDS_IT) this.#rows.set(text, structuredClone([...rows]))
    else this.forget()
  }
}

/**
 * The session on which a process asks for the process lock and holds it. It ends with the process, or when the network
 * between process and server does.
 */
export class ControlSession implements Connection {
  readonly #real: RealSession
  readonly #sessions: RealSessions
  readonly #client: Client
  readonly #database: SimDatabase
  readonly #listeners: ((cause: Error) => void)[] = []
  #isEnded = false
  #isKnownBroken = false

  constructor(real: RealSession, sessions: RealSessions, client: Client, database: SimDatabase) {
    this.#real = real
    this.#sessions = sessions
    this.#client = client
    this.#database = database
  }

  get isBroken(): boolean {
    return this.#isKnownBroken
  }

  onLost(listener: (cause: Error) => void): void {
    this.#listeners.push(listener)
  }

  query<Row extends object>(text: string, params?: readonly unknown[]): Promise<Row[]> {
    const { lockAnswers, observer } = this.#database
    return this.#say(async () => {
      const known = lockAnswers.get(text)
      if (known !== undefined) return known as Row[]
      const rows = await this.#sessions.run(this.#real, (connection) => connection.query<Row>(text, params))
      lockAnswers.heard(text, rows)
      if (text === RAISE_EPOCH) observer.becameActive(this.#client)
      return rows
    })
  }

  execute(text: string, params?: readonly unknown[]): Promise<number> {
    this.#database.lockAnswers.forget()
    return this.#say(() => this.#sessions.run(this.#real, (connection) => connection.execute(text, params)))
  }

  transaction(): never {
    throw new Error('the lock needs no transaction')
  }

  snapshot(): never {
    throw new Error('the lock needs no snapshot')
  }

  async setStatementTimeout(): Promise<void> {}

  async #say<T>(work: () => Promise<T>): Promise<T> {
    await this.#database.pass(this.#client).catch((error) => {
      this.#lose()
      throw error
    })
    if (this.#isEnded) {
      this.#lose()
      throw new DatabaseUnavailable('database connection is closed')
    }
    const value = await work()
    await this.#database.pass(this.#client)
    return value
  }

  /**
   * The server ends the session and frees its lock at once. The process learns it with the next thing that reaches it.
   */
  cut(): void {
    this.#end()
    void this.#database.pass(this.#client).then(
      () => this.#lose(),
      () => this.#lose(),
    )
  }

  async close(): Promise<void> {
    this.#isKnownBroken = true
    this.#end()
  }

  #end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#database.forget(this)
    this.#client.controls.delete(this)
    const free = async (connection: Connection) => {
      await connection.query('select pg_advisory_unlock_all()')
      this.#database.lockAnswers.forget()
    }
    this.#sessions
      .run(this.#real, free)
      .then(() => this.#sessions.retire(this.#real))
      .catch(() => {})
  }

  #lose(): void {
    if (this.#isKnownBroken) return
    this.#isKnownBroken = true
    this.#end()
    for (const listener of this.#listeners) listener(new Error('connection lost'))
  }
}
