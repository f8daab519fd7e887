import { Socket } from 'node:net'
import pg from 'pg'
import type { Clock } from '../clock.ts'
import { beginStatement, CommitInDoubt, type Database, DatabaseUnavailable, type Db } from './db.ts'
import { isLoss, isPassing, unavailable } from './driver-errors.ts'
import { getTypeParser } from './driver-values.ts'
import { readServers } from './dsn.ts'
import { TIMELINE } from './lock-statements.ts'

/** How connections are made; the same for the pool and for the reserved sessions. */
export interface ConnectionOptions {
  dsn: string
  applicationName: string
  /** A connection that is not usable after this long counts as failed; sooner, where several servers are named. */
  connectTimeoutMs: number
  /** The server ends a statement after this long; a little later the connection is given up. */
  statementTimeoutMs: number
  /** A transaction that stands still this long belongs to a process that hangs; others may wait for its locks. */
  idleInTransactionMs?: number
  clock: Pick<Clock, 'monotonicMs'>
  /** Throws where a new session will not do; then another server is tried, if there is one. */
  judge?(session: ServerSession): void
}

/** One session of the database. After `isBroken` every call throws `DatabaseUnavailable`. */
export interface Connection extends Database {
  readonly isBroken: boolean
  /** As any database's; nothing else may use this connection meanwhile. Throws `CommitInDoubt` too. */
  transaction<T>(name: string, work: (tx: Db) => Promise<T>): Promise<T>
  /** Run `listener` once when the session is lost; not after `close`. */
  onLost(listener: (cause: Error) => void): void
  /** Set the statement time-out of this session; 0 is none, for migrations. */
  setStatementTimeout(ms: number): Promise<void>
  /** End the session. Waits a second at most. */
  close(): Promise<void>
}

/** A session as it was opened. */
export interface ServerSession extends Connection {
  /** The history of writes that its server goes on with, each newer one greater; null for one that only follows another. */
  readonly timeline: string | null
  /** When the server last answered on it, on the monotonic clock. */
  readonly heardMs: number
  /** Since when the statement waits that the server has not answered, on the same clock; null where none does. */
  readonly asksSinceMs: number | null
  /** Ask an idle session whether its server is there still; it counts as lost where no answer comes within this time. */
  proveAlive(withinMs: number): void
  /** Count it as lost, for this cause: whatever waits on it fails at once. */
  end(cause: Error): void
}

const GIVE_UP_AFTER_MS = 5_000
const CLOSE_WAIT_MS = 1_000
const PREPARED_MAX = 300
const IDLE_IN_TRANSACTION_MS = 20_000
/**
 * A commit whose connection was lost is made by then or never, in ms: the server ends a transaction that hears nothing
 * for `IDLE_IN_TRANSACTION_MS`, and a commit that waits for a replica by the time-out of statements, which is 30 s
 * (`pool.ts`). Of several processes each ends an idle one sooner (`lib/cluster/timing.ts`).
 */
export const LATE_COMMIT_MS = 60_000
/** Where several servers are named, the next is tried beside one that has not answered for this long. */
const NEXT_SERVER_MS = 500
/** There, one that has not answered for so long counts as failed: its host may have vanished. */
const ONE_OF_SEVERAL_MS = 2_000
// The server notices a vanished client host within 20 s, and frees what its sessions have locked.
const SESSION_SETTINGS = [
  ...['TimeZone=UTC', 'tcp_user_timeout=20000'],
  ...['tcp_keepalives_idle=8', 'tcp_keepalives_interval=4', 'tcp_keepalives_count=3'],
]
  .map((setting) => `-c ${setting}`)
  .join(' ')

/**
 * Open one session, on the first of the named servers that will do. Throws `DatabaseUnavailable` with the driver's
 * error as its cause.
 */
export async function openConnection(options: ConnectionOptions): Promise<ServerSession> {
  const { urls, mustTakeWrites } = readServers(options.dsn)
  if (urls.length === 1) return openAt(urls[0]!, mustTakeWrites, options)
  const connectTimeoutMs = Math.min(options.connectTimeoutMs, ONE_OF_SEVERAL_MS)
  return firstOf(urls.map((url) => () => openAt(url, mustTakeWrites, { ...options, connectTimeoutMs })))
}

/**
 * The first connection that comes about; those that come later are closed. The next server is tried when one refuses,
 * or has not answered for `NEXT_SERVER_MS`. When none would do it throws what the first server's attempt threw.
 */
async function firstOf(opens: readonly (() => Promise<ServerSession>)[]): Promise<ServerSession> {
  const failures: unknown[] = []
  return new Promise((resolve, reject) => {
    let isDecided = false
    const open = (index: number) => {
      if (isDecided || index >= opens.length) return
      let isNextTried = false
      const tryNext = () => {
        if (!isNextTried) open(index + 1)
        isNextTried = true
      }
      const timer = setTimeout(tryNext, NEXT_SERVER_MS)
      opens[index]!()
        .then(
          (connection) => {
            if (isDecided) void connection.close()
            else resolve(connection)
            isDecided = true
          },
          (error) => {
            failures[index] = error
            if (Object.keys(failures).length === opens.length) reject(failures[0])
            tryNext()
          },
        )
        .finally(() => clearTimeout(timer))
    }
    open(0)
  })
}

async function openAt(
  url: string,
  mustTakeWrites: boolean,
  options: ConnectionOptions,
): Promise<ServerSession> {
  const socket = new Socket()
  const client = new pg.Client({
    connectionString: url,
    application_name: options.applicationName,
    statement_timeout: options.statementTimeoutMs,
    idle_in_transaction_session_timeout: options.idleInTransactionMs ?? IDLE_IN_TRANSACTION_MS,
    options: SESSION_SETTINGS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    stream: () => socket,
    types: { getTypeParser },
  })
  const session = new Session(client, socket, options)
  // A connect that neither works nor fails (an address that takes the connection and says nothing) ends here.
  let isGivenUp = false
  const giveUp = setTimeout(() => {
    isGivenUp = true
    socket.destroy()
  }, options.connectTimeoutMs)
  try {
    await client.connect()
    await session.meet()
  } catch (error) {
    socket.destroy()
    const late = `the server did not answer within ${options.connectTimeoutMs} ms`
    throw unavailable('connect', isGivenUp ? new Error(late, { cause: error }) : error)
  } finally {
    clearTimeout(giveUp)
  }
  try {
    if (mustTakeWrites && session.isReadOnly) throw new DatabaseUnavailable(TAKES_NO_WRITES)
    options.judge?.(session)
  } catch (error) {
    await session.close()
    throw error
  }
  return session
}

const GONE = 'the session does not answer, and another server says that it is the one'
const TAKES_NO_WRITES = 'this server takes no writes, DB_DSN asks for one that does'
const ASK_WHAT_IT_IS = `SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean AS "isReadOnly",
       CASE WHEN NOT pg_is_in_recovery() THEN ${TIMELINE} END AS timeline`

class Session implements ServerSession {
  readonly #client: pg.Client
  readonly #socket: Socket
  readonly #names = new Map<string, string>()
  readonly #listeners: ((cause: Error) => void)[] = []
  readonly #clock: ConnectionOptions['clock']
  #timeoutMs: number
  #isBroken = false
  #isClosing = false
  timeline: string | null = null
  isReadOnly = false
  heardMs: number
  asksSinceMs: number | null = null
  /** Set while it is being asked whether it is alive. */
  #proving: Promise<void> | null = null

  constructor(
    client: pg.Client,
    socket: Socket,
    { statementTimeoutMs, clock }: Pick<ConnectionOptions, 'statementTimeoutMs' | 'clock'>,
  ) {
    this.#client = client
    this.#socket = socket
    this.#timeoutMs = statementTimeoutMs
    this.#clock = clock
    this.heardMs = clock.monotonicMs()
    client.on('error', (error) => this.#lose(error))
    client.on('end', () => this.#lose(new Error('connection ended')))
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  onLost(listener: (cause: Error) => void): void {
    this.#listeners.push(listener)
  }

  end(cause: Error): void {
    this.#lose(cause)
  }

  proveAlive(withinMs: number): void {
    if (this.#isBroken || this.#proving !== null || this.asksSinceMs !== null) return
    // In two steps, between which a process that stood still reads what had come meanwhile.
    let giveUp = setTimeout(() => {
      giveUp = setTimeout(() => this.#lose(new Error(GONE)), withinMs / 2).unref()
    }, withinMs / 2).unref()
    this.#proving = this.#client
      .query('SELECT 1')
      .catch((error) => {
        // Any answer is one, also that the transaction which stands open on it has failed.
        if (isLoss(error)) this.#lose(error as Error)
      })
      .then(() => {
        clearTimeout(giveUp)
        this.#proving = null
        if (!this.#isBroken) this.heardMs = this.#clock.monotonicMs()
      })
  }

  /** Learn which server this is. */
  async meet(): Promise<void> {
    const { rows } = await this.#client.query<Pick<Session, 'isReadOnly' | 'timeline'>>(ASK_WHAT_IT_IS)
    this.isReadOnly = rows[0]!.isReadOnly
    this.timeline = rows[0]!.timeline
    this.heardMs = this.#clock.monotonicMs()
  }

  async query<Row extends object>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#send(text, params)).rows as Row[]
  }

  async execute(text: string, params: readonly unknown[] = []): Promise<number> {
    return (await this.#send(text, params)).rowCount ?? 0
  }

  transaction<T>(name: string, work: (tx: Db) => Promise<T>): Promise<T> {
    return this.#runScope(beginStatement(name, 'transaction'), work)
  }

  snapshot<T>(name: string, work: (tx: Db) => Promise<T>): Promise<T> {
    return this.#runScope(beginStatement(name, 'snapshot'), work)
  }

  async #runScope<T>(begin: string, work: (tx: Db) => Promise<T>): Promise<T> {
    const scope = new TransactionScope(this)
    await this.execute(begin)
    let value: T
    try {
      value = await work(scope)
    } catch (error) {
      scope.isOver = true
      // A connection that cannot even roll back is of no use to anyone.
      await this.execute('ROLLBACK').catch((cause: Error) => this.#lose(cause))
      throw error
    }
    scope.isOver = true
    const { command } = await this.#send('COMMIT', []).catch((error: Error) => {
      // An answer of the server, whatever it says, leaves no doubt.
      throw this.#isBroken ? new CommitInDoubt(error.message, { cause: error }) : error
    })
    if (command === 'ROLLBACK') throw new Error('transaction was rolled back: a failed statement was ignored')
    return value
  }

  async setStatementTimeout(ms: number): Promise<void> {
    await this.query(`SELECT set_config('statement_timeout', $1, false)`, [String(ms)])
    this.#timeoutMs = ms
  }

  async close(): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    const wasBroken = this.#isBroken
    this.#isBroken = true
    if (wasBroken) return void this.#socket.destroy()
    let timer: NodeJS.Timeout | undefined
    const waited = new Promise((resolve) => {
      timer = setTimeout(resolve, CLOSE_WAIT_MS)
    })
    await Promise.race([this.#client.end().catch(() => undefined), waited])
    clearTimeout(timer)
    this.#socket.destroy()
  }

  async #send(text: string, params: readonly unknown[]): Promise<pg.QueryResult> {
    if (this.#proving !== null) await this.#proving
    if (this.#isBroken) throw new DatabaseUnavailable('database connection is closed')
    // The server's own limit comes first; this one is for a server that no longer answers.
    const watch =
      this.#timeoutMs > 0
        ? setTimeout(() => this.#socket.destroy(), this.#timeoutMs + GIVE_UP_AFTER_MS)
        : undefined
    this.asksSinceMs = this.#clock.monotonicMs()
    try {
      const result = await this.#client.query({
        name: this.#nameOf(text, params),
        text,
        values: [...params],
      })
      this.heardMs = this.#clock.monotonicMs()
      return result
    } catch (error) {
      if (isLoss(error)) this.#lose(error as Error)
      else this.heardMs = this.#clock.monotonicMs()
      if (!isLoss(error) && !isPassing(error)) throw error
      throw unavailable('query', error)
    } finally {
      clearTimeout(watch)
      this.asksSinceMs = null
    }
  }

  /** Statements with parameters are prepared once a session; texts are few, and the cap holds if they are not. */
  #nameOf(text: string, params: readonly unknown[]): string | undefined {
    if (params.length === 0) return undefined
    const known = this.#names.get(text)
    if (known !== undefined) return known
    if (this.#names.size >= PREPARED_MAX) return undefined
    const name = `s${this.#names.size}`
    this.#names.set(text, name)
    return name
  }

  #lose(cause: Error): void {
    if (this.#isBroken) return
    this.#isBroken = true
    this.#socket.destroy()
    for (const listener of this.#listeners) listener(cause)
  }
}

/** The transaction as its work sees it; refuses statements that come after its end. */
class TransactionScope implements Db {
  readonly #session: Session
  isOver = false

  constructor(session: Session) {
    this.#session = session
  }

  async query<Row extends object>(text: string, params?: readonly unknown[]): Promise<Row[]> {
    return this.#open().query<Row>(text, params)
  }

  async execute(text: string, params?: readonly unknown[]): Promise<number> {
    return this.#open().execute(text, params)
  }

  #open(): Session {
    if (this.isOver) throw new Error('statement after the end of its transaction')
    return this.#session
  }
}
