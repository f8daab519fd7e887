import type { Connection } from '../../../lib/store/connection.ts'
import { DatabaseUnavailable } from '../../../lib/store/db.ts'
import { ASK_FOR_LOCK, ASK_WHO_HOLDS_IT, RAISE_EPOCH } from '../../../lib/store/lock-statements.ts'
import type { RealSession, RealSessions } from './real-sessions.ts'
import type { Client, SimDatabase } from './sim-database.ts'

/**
 * What processes without the lock were last told of it. A standby asks the same two questions all day: until a
 * control session begins, ends or gets the lock, they have the answers that they had.
 */
export class LockAnswers {
  readonly #rows = new Map<string, object[]>()

  forget(): void {
    this.#rows.clear()
  }

  get(text: string): object[] | undefined {
    return this.#rows.get(text)
  }

  /** Keep the answer when it is one of a process that has not got the lock. */
  heard(text: string, rows: readonly object[]): void {
    const isRefused = text === ASK_FOR_LOCK && (rows[0] as { taken?: boolean } | undefined)?.taken === false
    if (isRefused || text === ASK_WHO_HOLDS_IT) this.#rows.set(text, structuredClone([...rows]))
    else this.forget()
  }
}

/** The session that holds a process's lock. It ends with its process, or when the network between them does. */
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

  /** The server has ended it: its lock is free at once. Its process hears of it when it hears anything. */
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
