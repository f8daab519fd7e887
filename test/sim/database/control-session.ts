import type { Connection } from '../../../lib/store/connection.ts'
import { DatabaseUnavailable } from '../../../lib/store/db.ts'
import {
  ASK_FOR_LOCK,
  ASK_WHO_HOLDS_IT,
  type Holder,
  RAISE_EPOCH,
} from '../../../lib/store/lock-statements.ts'
import { END_SESSIONS } from '../../../lib/store/members.ts'
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

/** What a process keeps a control session for: to ask for the process lock and hold it, or to be a member. */
export type Purpose = 'lock' | 'members'

/** What control sessions are made of, besides the real one. */
interface ControlParts {
  sessions: RealSessions
  client: Client
  database: SimDatabase
  purpose: Purpose
}

const CLOCK = 'clock_timestamp()'

/**
 * The session on which a process asks for the process lock and holds it, or renews itself as a member. It ends with the
 * process, or when the network between process and server does. The clock of the server is that of virtual time on it,
 * and the names of sessions are those of the simulated processes.
 */
export class ControlSession implements Connection {
  readonly purpose: Purpose
  readonly #real: RealSession
  readonly #sessions: RealSessions
  readonly #client: Client
  readonly #database: SimDatabase
  readonly #listeners: ((cause: Error) => void)[] = []
  #isEnded = false
  #isKnownBroken = false

  constructor(real: RealSession, { sessions, client, database, purpose }: ControlParts) {
    this.purpose = purpose
    this.#real = real
    this.#sessions = sessions
    this.#client = client
    this.#database = database
  }

  get client(): Client {
    return this.#client
  }

  get pid(): number {
    return this.#real.pid
  }

  get isBroken(): boolean {
    return this.#isKnownBroken
  }

  onLost(listener: (cause: Error) => void): void {
    this.#listeners.push(listener)
  }

  query<Row extends object>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    const { lockAnswers, memberAnswers, observer } = this.#database
    return this.#say(async () => {
      if (this.purpose === 'members')
        return memberAnswers.query<Row>(text, params, this.#database.now(), this.#ask)
      await memberAnswers.tell(text, this.#ask)
      if (text === END_SESSIONS) return this.#endSessions(params) as Promise<Row[]>
      const known = lockAnswers.get(text)
      if (known !== undefined) return known as Row[]
      const rows = await this.#ask<Row>(text, params)
      if (text === ASK_WHO_HOLDS_IT) for (const row of rows) this.#name(row as object as Holder)
      lockAnswers.heard(text, rows)
      if (text === RAISE_EPOCH) {
        memberAnswers.forget()
        observer.becameActive(this.#client)
      }
      return rows
    })
  }

  execute(text: string, params: readonly unknown[] = []): Promise<number> {
    const { lockAnswers, memberAnswers } = this.#database
    if (this.purpose === 'lock') lockAnswers.forget()
    return this.#say(async () => {
      await memberAnswers.tell(text, this.#ask)
      if (this.purpose === 'members') memberAnswers.removed()
      return this.#sessions.run(this.#real, (connection) => connection.execute(...this.#inTime(text, params)))
    })
  }

  readonly #ask = <Row extends object>(text: string, params: readonly unknown[]): Promise<Row[]> =>
    this.#sessions.run(this.#real, (connection) => connection.query<Row>(...this.#inTime(text, params)))

  /** The statement with the database's clock as its last parameter, where it asks for that. */
  #inTime(text: string, params: readonly unknown[]): [text: string, params: readonly unknown[]] {
    if (!text.includes(CLOCK)) return [text, params]
    return [text.replaceAll(CLOCK, `$${params.length + 1}::timestamptz`), [...params, this.#database.now()]]
  }

  /** The server knows the sessions by the name of the simulation. */
  #name(holder: Holder): void {
    const client = this.#database.clientOf(holder.pid)
    if (client !== null) holder.application = client.application
  }

  async #endSessions([memberId, application, silentMs]: readonly unknown[]): Promise<object[]> {
    const speaking = await this.#ask(
      `select from members where id = $1 and seen_at >= ${CLOCK} - make_interval(secs => $2 / 1000.0)`,
      [memberId, silentMs],
    )
    const ended = speaking.length > 0 ? 0 : this.#database.endSessions(String(application))
    return Array.from({ length: ended }, () => ({}))
  }

  transaction(): never {
    throw new Error('the lock needs no transaction')
  }

  snapshot(): never {
    throw new Error('the lock needs no snapshot')
  }

  async setStatementTimeout(): Promise<void> {}

  async #say<T>(work: () => Promise<T>): Promise<T> {
    if (this.purpose === 'members') await this.#database.untilRenews(this.#client)
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
    if (this.purpose === 'members') {
      // It has locked nothing; whatever is under way on it ends first.
      const idle = (connection: Connection) => connection.query('select')
      this.#sessions
        .run(this.#real, idle)
        .then(() => this.#sessions.give(this.#real))
        .catch(() => {})
      return
    }
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
