import type { Connection } from '../../../lib/store/connection.ts'
import { DatabaseUnavailable } from '../../../lib/store/db.ts'
import type { RealSession, RealSessions } from './real-sessions.ts'
import type { Client, SimDatabase } from './sim-database.ts'

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
    const isRaise = /INSERT INTO process_epoch/.test(text)
    return this.#say((connection) => connection.query<Row>(text, params), isRaise)
  }

  execute(text: string, params?: readonly unknown[]): Promise<number> {
    return this.#say((connection) => connection.execute(text, params))
  }

  transaction(): never {
    throw new Error('the lock needs no transaction')
  }

  snapshot(): never {
    throw new Error('the lock needs no snapshot')
  }

  async setStatementTimeout(): Promise<void> {}

  async #say<T>(work: (connection: Connection) => Promise<T>, isRaise = false): Promise<T> {
    await this.#database.pass(this.#client).catch((error) => {
      this.#lose()
      throw error
    })
    if (this.#isEnded) {
      this.#lose()
      throw new DatabaseUnavailable('database connection is closed')
    }
    const value = await this.#sessions.run(this.#real, work)
    if (isRaise) this.#database.observer.becameActive(this.#client)
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
    const free = (connection: Connection) => connection.query('select pg_advisory_unlock_all()')
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
