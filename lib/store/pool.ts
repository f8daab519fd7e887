import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { type Connection, openConnection, type ServerSession } from './connection.ts'
import { type Database, DatabaseUnavailable, type Db } from './db.ts'
import { LiveSessions } from './live-sessions.ts'

/** Limits of the process's sessions; see `openPool`. */
export interface PoolOptions {
  dsn: string
  /** For all sessions of the process, the reserved ones included. */
  maxOpen: number
  maxIdle: number
  idleTimeoutMs: number
  lifetimeMs: number
  applicationName?: string
  connectTimeoutMs?: number
  statementTimeoutMs?: number
  /** See `ConnectionOptions`. */
  idleInTransactionMs?: number
  /** Sessions outside the pool's share; one, for control, unless told otherwise. */
  reserved?: number
  /** How long a caller waits for a free connection before it is told that the database is unavailable. */
  waitTimeoutMs?: number
  clock: Clock
  log: Log
}

/** The nine counters of `GET /api/system/database`; the last five only grow. */
export interface PoolStatistics {
  maxOpenConnections: number
  openConnections: number
  inUse: number
  idle: number
  waitCount: number
  waitDurationMs: number
  maxIdleClosed: number
  maxIdleTimeClosed: number
  maxLifetimeClosed: number
}

/** The pooled database. */
export interface Pool extends Database {
  statistics(): PoolStatistics
  /** A session outside the pool's share, for control; counted as in use until it is closed or lost. */
  openReserved(purpose: string): Promise<Connection>
  /**
   * The database has answered on a new session, after a question that began then, on the monotonic clock, was given up: end
   * the sessions on which it has not been heard since. The reserved ones are the business of who has them.
   */
  endUnheard(sinceMs: number): void
  /** Refuse new work, end idle sessions, and wait for those in use to be released. */
  close(): Promise<void>
}

/** Sessions kept for control, which is the process lock and readiness. */
const RESERVED_SESSIONS = 1
const MIN_SESSIONS = 4
/** What the sessions are for that are not reserved. */
const POOLED = 'pool'
/** Callers that may wait for a session; more are told at once that there is none. */
const WAITERS_MAX = 2_000
/** How long a process that stood still takes at most to read the answers that had come meanwhile. */
const READ_MS = 1_000
/** Longest time of a timer: Node fires a longer one at once. */
const TIMER_MS_MAX = 2_147_483_647

/** Open the pool. Nothing is connected yet: the first statement does that. */
export function openPool(options: PoolOptions): Pool {
  if (options.maxOpen < MIN_SESSIONS) {
    options.log.warn(
      { asked: options.maxOpen, used: MIN_SESSIONS },
      'DB_MAX_OPEN_CONNS is below the least that works and was raised',
    )
  }
  return new SessionPool({ ...options, maxOpen: Math.max(MIN_SESSIONS, options.maxOpen) })
}

interface Idle {
  connection: ServerSession
  bornMs: number
  timer: NodeJS.Timeout
}

interface Waiter {
  give(): void
  refuse(error: Error): void
  timer: NodeJS.Timeout
  sinceMs: number
}

class SessionPool implements Pool {
  readonly #options: PoolOptions
  /** Most recently used last, so that the oldest go idle long enough to be closed. */
  readonly #idle: Idle[] = []
  readonly #waiters: Waiter[] = []
  readonly #sessions = new LiveSessions()
  readonly #counters = { waitCount: 0, waitMs: 0, idleClosed: 0, idleTimeClosed: 0, lifetimeClosed: 0 }
  #inUse = 0
  #reserved = 0
  #isClosed = false
  #drained: (() => void) | null = null

  constructor(options: PoolOptions) {
    this.#options = options
  }

  query<Row extends object>(text: string, params?: readonly unknown[]): Promise<Row[]> {
    return this.#borrow((connection) => connection.query<Row>(text, params))
  }

  execute(text: string, params?: readonly unknown[]): Promise<number> {
    return this.#borrow((connection) => connection.execute(text, params))
  }

  transaction<T>(name: string, work: (tx: Db) => Promise<T>): Promise<T> {
    return this.#borrow((connection) => connection.transaction(name, work))
  }

  snapshot<T>(name: string, work: (tx: Db) => Promise<T>): Promise<T> {
    return this.#borrow((connection) => connection.snapshot(name, work))
  }

  statistics(): PoolStatistics {
    const inUse = this.#inUse + this.#reserved
    return {
      maxOpenConnections: this.#options.maxOpen,
      openConnections: inUse + this.#idle.length,
      inUse,
      idle: this.#idle.length,
      waitCount: this.#counters.waitCount,
      waitDurationMs: Math.trunc(this.#counters.waitMs),
      maxIdleClosed: this.#counters.idleClosed,
      maxIdleTimeClosed: this.#counters.idleTimeClosed,
      maxLifetimeClosed: this.#counters.lifetimeClosed,
    }
  }

  get #reservedMax(): number {
    return this.#options.reserved ?? RESERVED_SESSIONS
  }

  async openReserved(purpose: string): Promise<Connection> {
    if (this.#reserved >= this.#reservedMax)
      throw new DatabaseUnavailable(`no reserved session left for ${purpose}`)
    this.#reserved++
    const connection = await this.#connect(purpose).catch((error: Error) => {
      this.#reserved--
      throw error
    })
    let isCounted = true
    const uncount = () => {
      if (isCounted) this.#reserved--
      isCounted = false
    }
    connection.onLost(uncount)
    const close = connection.close.bind(connection)
    connection.close = () => close().finally(uncount)
    return connection
  }

  endUnheard(sinceMs: number): void {
    const askedMs = this.#options.clock.monotonicMs()
    for (const { connection } of [...this.#idle])
      if (connection.heardMs < sinceMs) connection.end(new Error('nothing was heard on the session for long'))
    setTimeout(() => this.#sessions.endUnheard(sinceMs, askedMs), READ_MS).unref()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const waiter of this.#waiters.splice(0)) waiter.refuse(new DatabaseUnavailable('pool is closed'))
    const closing = this.#idle.splice(0).map(({ connection, timer }) => {
      clearTimeout(timer)
      return connection.close()
    })
    await Promise.all(closing)
    if (this.#inUse === 0) return
    await new Promise<void>((resolve) => {
      this.#drained = resolve
    })
  }

  async #borrow<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
    await this.#permit()
    let taken: { connection: ServerSession; bornMs: number } | undefined
    try {
      taken = this.#takeIdle() ?? {
        connection: await this.#connect(POOLED),
        bornMs: this.#options.clock.monotonicMs(),
      }
      return await use(taken.connection)
    } finally {
      this.#release(taken)
    }
  }

  /** Wait for one of the pool's places. */
  async #permit(): Promise<void> {
    if (this.#isClosed) throw new DatabaseUnavailable('pool is closed')
    if (this.#inUse < this.#options.maxOpen - this.#reservedMax) {
      this.#inUse++
      return
    }
    if (this.#waiters.length >= WAITERS_MAX)
      throw new DatabaseUnavailable('too many callers wait for a database connection')
    this.#counters.waitCount++
    await new Promise<void>((give, refuse) => {
      const timer = setTimeout(() => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
        this.#counters.waitMs += this.#options.clock.monotonicMs() - waiter.sinceMs
        refuse(new DatabaseUnavailable('no database connection became free in time'))
      }, this.#options.waitTimeoutMs ?? 10_000)
      const waiter: Waiter = { give, refuse, timer, sinceMs: this.#options.clock.monotonicMs() }
      this.#waiters.push(waiter)
    })
  }

  #takeIdle(): { connection: ServerSession; bornMs: number } | undefined {
    for (let entry = this.#idle.pop(); entry; entry = this.#idle.pop()) {
      clearTimeout(entry.timer)
      if (entry.connection.isBroken) continue
      if (!this.#isTooOld(entry.bornMs)) return entry
      this.#counters.lifetimeClosed++
      void entry.connection.close()
    }
    return undefined
  }

  #release(taken: { connection: ServerSession; bornMs: number } | undefined): void {
    if (taken && !taken.connection.isBroken) this.#keepOrClose(taken)
    const next = this.#waiters.shift()
    if (next) {
      clearTimeout(next.timer)
      this.#counters.waitMs += this.#options.clock.monotonicMs() - next.sinceMs
      next.give()
      return
    }
    this.#inUse--
    if (this.#inUse === 0) this.#drained?.()
  }

  #keepOrClose({ connection, bornMs }: { connection: ServerSession; bornMs: number }): void {
    const isTooOld = this.#isTooOld(bornMs)
    // A caller that waits takes the connection at once, so that the limit of idle ones does not concern it.
    const hasPlace = this.#waiters.length > 0 || this.#idle.length < this.#options.maxIdle
    if (!isTooOld && hasPlace && !this.#isClosed) {
      this.#keep(connection, bornMs)
      return
    }
    if (isTooOld) this.#counters.lifetimeClosed++
    else if (!this.#isClosed) this.#counters.idleClosed++
    void connection.close()
  }

  #keep(connection: ServerSession, bornMs: number): void {
    const remove = () => {
      const index = this.#idle.indexOf(entry)
      if (index >= 0) this.#idle.splice(index, 1)
      return index >= 0
    }
    const lifeLeftMs = bornMs + this.#options.lifetimeMs - this.#options.clock.monotonicMs()
    const isLifeShorter = lifeLeftMs < this.#options.idleTimeoutMs
    const close = () => {
      if (!remove()) return
      if (isLifeShorter) this.#counters.lifetimeClosed++
      else this.#counters.idleTimeClosed++
      void connection.close()
    }
    const timer = setTimeout(close, Math.min(lifeLeftMs, this.#options.idleTimeoutMs, TIMER_MS_MAX))
    // An idle session is no reason for the process to live on.
    timer.unref()
    const entry: Idle = { connection, bornMs, timer }
    this.#idle.push(entry)
  }

  #isTooOld(bornMs: number): boolean {
    return this.#options.clock.monotonicMs() - bornMs >= this.#options.lifetimeMs
  }

  async #connect(purpose: string): Promise<ServerSession> {
    const {
      dsn,
      applicationName = 'muster',
      connectTimeoutMs = 5_000,
      statementTimeoutMs = 30_000,
      idleInTransactionMs,
      clock,
    } = this.#options
    const isReserved = purpose !== POOLED
    const connection = await openConnection({
      dsn,
      applicationName,
      connectTimeoutMs,
      statementTimeoutMs,
      clock,
      judge: (session) => this.#sessions.admit(session, isReserved),
      ...(idleInTransactionMs === undefined ? {} : { idleInTransactionMs }),
    })
    connection.onLost((cause) => {
      const index = this.#idle.findIndex((entry) => entry.connection === connection)
      if (index >= 0) clearTimeout(this.#idle.splice(index, 1)[0]!.timer)
      this.#options.log.warn({ purpose, cause: cause.message }, 'database connection lost')
    })
    return connection
  }
}
