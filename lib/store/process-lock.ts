import type { Clock } from '../clock.ts'
import type { Random } from '../ids.ts'
import type { Log } from '../log.ts'
import type { Connection } from './connection.ts'
import { DatabaseUnavailable, type Db } from './db.ts'
import {
  endHolder,
  findHolder,
  type History,
  type Holder,
  isNewest,
  keyOfSession,
  type Ownership,
  raiseEpoch,
  readHistory,
  releaseAdvisoryLock,
  staysNewest,
  takeAdvisoryLockFrom,
  tryAdvisoryLock,
} from './lock-statements.ts'
import { checkServer } from './server-version.ts'

/** Thrown when another process has become the owner: this one may write nothing any more, as if without a database. */
export class EpochLost extends DatabaseUnavailable {
  override readonly name = 'EpochLost'
}

/** What the lock needs; times in milliseconds, shorter in tests. */
export interface ProcessLockOptions {
  /** Opens a reserved session, see `Pool.openReserved`. */
  connect(): Promise<Connection>
  clock: Clock
  /** Where the marks of ownerships come from; the system's, unless told otherwise. */
  random?: Random
  log: Log
  /** Runs once when this process may not go on, with the reason: another one became the owner, say. */
  onLost(why: string): void
  /** Whether to ask for the lock now, given who holds it, null for nobody; always, unless told otherwise. */
  mayClaim?(connection: Connection, holder: Holder | null): Promise<boolean>
  pollMs?: number
  /** How long a standby waits after it has a new connection, so that the owner can take the lock again first. */
  standbyPatienceMs?: number
  /** A session on which a standby's question is not answered within this time hangs, and is given up. */
  answerMs?: number
  /** Waits, and throws the reason of an aborted signal; the simulation passes its own time. */
  pause?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Makes one process of a database the owner; see `openProcessLock`. */
export interface ProcessLock {
  /**
   * Wait until this process is the owner, as a standby while another one is. Throws when the first connection fails,
   * the server is too old, or the signal is aborted; once it stands by, a fault of the database means "not now". Where
   * others are asked (`mayClaim`), one with the lock in hand throws too: for how long to leave it to them is not the lock's.
   * `onStandby` runs once when the lock is not to be had at once.
   */
  acquire(signal: AbortSignal, onStandby?: () => void): Promise<void>
  /** Whether the lock is held now, on a live connection. Without it no offer may be sent. */
  isHeld(): boolean
  /** Whether this process has had the lock since it last began to acquire it, be it for a moment. */
  readonly hadLock: boolean
  /** The epoch of this process; 0 before it was the owner. */
  readonly epoch: number
  /** The session that holds the lock. Throws `DatabaseUnavailable` later, when it breaks. */
  connection(): Connection
  /**
   * Throws in a transaction of a process that may not write: `EpochLost` when another one has become the owner since, or
   * this one has lost the lock for good; `DatabaseUnavailable` while it has to take the lock again.
   */
  checkEpoch(tx: Db): Promise<void>
  /** Whether the database answers on the control session within `timeoutMs`. */
  ping(timeoutMs: number): Promise<boolean>
  /**
   * To be called about once a second, each time the database has just answered elsewhere. The session of the lock is asked
   * meanwhile: one that has not answered at several such calls hangs, and counts as lost.
   */
  probe(): void
  /** Give the lock up and end the session; the next standby takes over at once. */
  release(): Promise<void>
  /** Give the lock up, or what is left of it, and stand by again: `acquire` may be called anew, for another epoch. */
  letGo(): Promise<void>
}

/** How long a session may leave a question of a standby unanswered. */
const ANSWER_MS = 3_000
/** At so many answers from elsewhere a session that has given none hangs. */
const UNANSWERED_MAX = 3

/**
 * One process is the owner, the others wait (session-level advisory lock on a session of its own; kill -9 frees it at
 * once, keepalives of the server within 20 s of a vanished host). Whoever gets the lock raises the epoch; an owner that
 * was cut off from its database takes the lock again and goes on only if the epoch is still its own.
 */
export function openProcessLock(options: ProcessLockOptions): ProcessLock {
  return new AdvisoryProcessLock(options)
}

class AdvisoryProcessLock implements ProcessLock {
  readonly #options: ProcessLockOptions
  /** Aborted when this process gives up the lock that it has, or waits for. */
  #stop = new AbortController()
  readonly #pause: NonNullable<ProcessLockOptions['pause']>
  #connection: Connection | null = null
  /** A question to the database whether it answers, on its way; anybody may have it asked. */
  #asked: { connection: Connection; answer: Promise<boolean> } | null = null
  /** How often the question on its way was found unanswered where the database had answered elsewhere. */
  #unanswered = 0
  hadLock = false
  #isHeld = false
  #isLost = false
  #ownership: Ownership = NO_OWNERSHIP
  #pid = 0
  #session = ''
  #history: History | null = null
  /** Keys (`keyOfSession`) of this process's sessions that may hold the lock without the process knowing it. */
  readonly #ownSessions = new Set<string>()
  /** Resolves once this process tries no more to take again the lock that it had. */
  #takingAgain: Promise<void> = Promise.resolve()

  constructor(options: ProcessLockOptions) {
    this.#options = options
    this.#pause = options.pause ?? pause
  }

  async acquire(signal: AbortSignal, onStandby: () => void = () => undefined): Promise<void> {
    const ended = AbortSignal.any([signal, this.#stop.signal])
    this.hadLock = false
    const first = await this.#open()
    const asked = { connection: first }
    try {
      await checkServer(first)
      await this.#untilOwner(asked, ended, onStandby)
    } catch (error) {
      await asked.connection.close()
      throw error
    }
  }

  /** Ask for the lock until this process is the owner, each time on the connection that it has by then. */
  async #untilOwner(
    asked: { connection: Connection },
    ended: AbortSignal,
    onStandby: () => void,
  ): Promise<void> {
    let isStandby = false
    let lastHolder = ''
    while (!(await this.#tryToOwn(asked.connection, isStandby))) {
      if (!isStandby) onStandby()
      isStandby = true
      if (asked.connection.isBroken) {
        this.#options.log.warn({}, 'standby lost its database connection')
        asked.connection = await this.#reopen(ended)
        // A restarted database has lost the owner's lock too; the owner may take it again first.
        await this.#pause(this.#options.standbyPatienceMs ?? 10_000, ended)
        continue
      }
      lastHolder = await this.#logHolder(asked.connection, lastHolder)
      await this.#pause(this.#options.pollMs ?? 300, ended)
    }
  }

  /** Whether this process is the owner now. For a standby a fault of the database means "not now". */
  async #tryToOwn(connection: Connection, isStandby: boolean): Promise<boolean> {
    try {
      if (!(await this.#tryLock(connection))) return false
      this.hadLock = true
      await this.#takeOver(connection)
      return true
    } catch (error) {
      const isForOthers = this.hadLock && this.#options.mayClaim !== undefined
      if (!isStandby || isForOthers || !(error instanceof DatabaseUnavailable)) throw error
      await this.#giveBack(connection, error)
      return false
    }
  }

  /** Become the owner with the lock just taken. */
  async #takeOver(connection: Connection): Promise<void> {
    await this.#refuseTransactionPooler(connection)
    this.#ownership = await raiseEpoch(connection, this.#options.clock.now(), this.#options.random)
    this.#history = null
    this.#noteHistory(await readHistory(connection))
    this.#hold(connection)
    this.#options.log.info({ epoch: this.epoch }, 'this process is the active one')
  }

  /** Stand by again after a fault, without the lock: a session that keeps it would keep it from everybody. */
  async #giveBack(connection: Connection, { message }: Error): Promise<void> {
    if (connection.isBroken) return
    this.#options.log.warn({ cause: message }, 'could not become the active process now')
    await releaseAdvisoryLock(connection).catch(() => connection.close())
  }

  get epoch(): number {
    return this.#ownership.epoch
  }

  isHeld(): boolean {
    return this.#isHeld
  }

  connection(): Connection {
    if (!this.#connection) throw new Error('the process lock was never acquired')
    return this.#connection
  }

  async checkEpoch(tx: Db): Promise<void> {
    const ownership = this.#ownership
    if (this.#isLost) throw new EpochLost('this process has lost the process lock')
    // The database may be another one by now, which lacks some of what this process knows.
    if (!this.#isHeld) throw new DatabaseUnavailable('this process does not hold the process lock now')
    const answer = await staysNewest(tx, ownership, this.#history!.timeline)
    if (answer !== null && answer !== 'elsewhere') {
      // The former database may answer so late that this process has its lock at another one by then.
      if (answer.timeline !== this.#history!.timeline) throw new DatabaseUnavailable(REPLACED)
      this.#noteHistory(answer)
      return
    }
    // The lock that this process holds is in the former database; it notices when its session there breaks.
    if (answer === 'elsewhere') throw new DatabaseUnavailable(REPLACED)
    this.#lose(BY_ANOTHER)
    throw new EpochLost(`this process owns epoch ${ownership.epoch} no longer`)
  }

  async ping(timeoutMs: number): Promise<boolean> {
    const connection = this.#connection
    if (!this.#isHeld || !connection) return false
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), timeoutMs)
    })
    return Promise.race([this.#ask(connection), late]).finally(() => clearTimeout(timer))
  }

  /** Whether the database answers: asked once at a time, for the driver takes one query after another. */
  #ask(connection: Connection): Promise<boolean> {
    if (this.#asked?.connection === connection) return this.#asked.answer
    const answer = connection.query('SELECT 1').then(
      () => true,
      () => false,
    )
    const asked = { connection, answer }
    this.#asked = asked
    void answer.then(() => {
      if (this.#asked === asked) this.#asked = null
    })
    return answer
  }

  probe(): void {
    const connection = this.#connection
    if (!this.#isHeld || connection === null) return
    if (this.#asked?.connection !== connection) {
      this.#unanswered = 0
      void this.#ask(connection)
    } else if (++this.#unanswered >= UNANSWERED_MAX) {
      this.#sessionLost(connection, new Error('its session does not answer'))
    }
  }

  async release(): Promise<void> {
    this.#stop.abort()
    this.#isHeld = false
    await this.#connection?.close()
  }

  async letGo(): Promise<void> {
    await this.release()
    // A session that it still opens would be taken for the one on which it claims anew.
    await this.#takingAgain
    this.#connection = null
    this.#isLost = false
    this.#stop = new AbortController()
  }

  #hold(connection: Connection): void {
    // This session holds the lock, and so no earlier session of this process does.
    for (const key of this.#ownSessions) if (key !== this.#session) this.#ownSessions.delete(key)
    this.#connection = connection
    this.#isHeld = true
    connection.onLost((cause) => this.#sessionLost(connection, cause))
  }

  /** The session of the lock is gone, or hangs: take the lock again on another one. */
  #sessionLost(connection: Connection, cause: Error): void {
    const { signal } = this.#stop
    if (signal.aborted || connection !== this.#connection || !this.#isHeld) return
    this.#isHeld = false
    if (this.#isLost) return
    this.#options.log.error(
      { cause: cause.message },
      'process lock connection lost; no offers until it is back',
    )
    // It rejects only when the signal is aborted, which means that the process ends.
    this.#takingAgain = this.#takeAgain(connection, signal).catch(() => undefined)
  }

  /** Come back after the database was away: same epoch, same lock, or stop. */
  async #takeAgain(former: Connection, signal: AbortSignal): Promise<void> {
    // One that hangs would go on to hold a place among the sessions.
    await former.close()
    while (!signal.aborted && !this.#isLost) {
      const connection = await this.#reopen(signal)
      try {
        if ((await this.#tryLockAgain(connection, signal)) && !signal.aborted) {
          this.#hold(connection)
          return this.#options.log.info({ epoch: this.epoch }, 'process lock taken again')
        }
        // The server has answered: this session does not hold the lock.
        this.#ownSessions.delete(this.#session)
      } catch (error) {
        this.#options.log.warn({ cause: (error as Error).message }, 'could not take the process lock again')
      }
      await connection.close()
    }
  }

  async #tryLockAgain(connection: Connection, signal: AbortSignal): Promise<boolean> {
    if (!(await this.#answerOf(connection, tryAdvisoryLock(connection)))) {
      const holder = await this.#findHolder(connection)
      if (holder === undefined || !this.#isOwn(holder)) {
        // Any holder that is not this process is another one, which has become the owner.
        if (holder !== undefined && !signal.aborted) this.#lose(BY_ANOTHER)
        await this.#pause(this.#options.pollMs ?? 300, signal)
        return false
      }
      // Others ask for it several times a second: it may be free at no time.
      await this.#answerOf(connection, takeAdvisoryLockFrom(connection, holder))
    }
    const isOurs = await isNewest(connection, this.#ownership)
    if (signal.aborted) return false
    if (!isOurs) this.#lose(BY_ANOTHER)
    else if (await this.#hasEverything(connection)) return true
    else this.#lose(MAY_LACK)
    return false
  }

  /**
   * Whether the session that holds the lock is another one of this process: it can outlive its lost connection, be it the
   * owner's or one that asked for the lock since.
   */
  #isOwn(holder: Holder): boolean {
    const key = keyOfSession(holder)
    return this.#ownSessions.has(key) && key !== this.#session
  }

  /**
   * Note the history as it is now. The settings of a server can change while it runs, and what it once acknowledged without a
   * replica that has it may be lost with it, whatever it does since.
   */
  #noteHistory({ timeline, isReplicated }: History): void {
    const before = this.#history
    const wasReplicated = before === null || before.timeline !== timeline || before.isReplicated
    this.#history = { timeline, isReplicated: isReplicated && wasReplicated }
  }

  /**
   * Whether the database still holds all that it has acknowledged to this process. A replica that was promoted may lack
   * the last of it: then what is in memory is not what is stored, and a process that loads that has to follow.
   */
  async #hasEverything(connection: Connection): Promise<boolean> {
    const before = this.#history
    const now = await readHistory(connection)
    this.#noteHistory(now)
    if (before === null || before.timeline === now.timeline) return true
    // One of a lower timeline is the former server, which a replica has replaced.
    if (before.isReplicated && now.timeline > before.timeline) return true
    this.#options.log.error({ before: before.timeline, now: now.timeline }, REPLACED)
    return false
  }

  #lose(why: string): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#isHeld = false
    this.#options.log.error({ epoch: this.epoch }, why)
    this.#options.onLost(why)
  }

  /** Behind a transaction pooler each statement may meet another session, and the lock would mean nothing. */
  async #refuseTransactionPooler(connection: Connection): Promise<void> {
    const holder = await findHolder(connection)
    if (holder?.pid === this.#pid) return
    throw new Error(
      'DB_DSN must lead to PostgreSQL directly: a transaction pooler cannot hold a session lock',
    )
  }

  /** True when the lock was taken; false when another holds it, or `mayClaim` says no. */
  async #tryLock(connection: Connection): Promise<boolean> {
    const { mayClaim } = this.#options
    if (mayClaim !== undefined) {
      const holder = (await this.#findHolder(connection)) ?? null
      if (holder !== null && this.#isOwn(holder))
        await this.#answerOf(connection, endHolder(connection, holder))
      if (!(await this.#answerOf(connection, mayClaim(connection, holder)))) return false
    }
    return await this.#answerOf(connection, tryAdvisoryLock(connection))
  }

  #findHolder(connection: Connection): Promise<Holder | undefined> {
    return this.#answerOf(connection, findHolder(connection))
  }

  /**
   * The answer to what was asked on this session, which is given up where there is none in time: a server that vanished says
   * nothing more, and the lock may long be free at another one.
   */
  async #answerOf<T>(connection: Connection, asked: Promise<T>): Promise<T> {
    const isAnswered = new AbortController()
    const giveUp = () => void connection.close()
    this.#pause(this.#options.answerMs ?? ANSWER_MS, isAnswered.signal).then(giveUp, () => undefined)
    return asked.finally(() => isAnswered.abort())
  }

  async #open(): Promise<Connection> {
    const connection = await this.#options.connect()
    try {
      // However long the session is idle, a setting of the server must not end it.
      const rows = await connection.query<Pick<Holder, 'pid' | 'since'>>(
        `SELECT pid, backend_start AS since, set_config('idle_session_timeout', '0', false)
         FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
      )
      this.#pid = rows[0]!.pid
      this.#session = keyOfSession(rows[0]!)
      this.#ownSessions.add(this.#session)
    } catch (error) {
      await connection.close()
      throw error
    }
    return connection
  }

  async #reopen(signal: AbortSignal): Promise<Connection> {
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted()
      try {
        return await this.#open()
      } catch (error) {
        if (attempt % 30 === 0) {
          this.#options.log.warn({ cause: (error as Error).message }, 'database is away, trying again')
        }
        await this.#pause(Math.min(1_000, 100 * 2 ** attempt), signal)
      }
    }
  }

  async #logHolder(connection: Connection, last: string): Promise<string> {
    const holder = await this.#findHolder(connection).catch(() => undefined)
    const text = holder ? `${holder.application} pid ${holder.pid} from ${holder.address}` : last
    if (text !== last) this.#options.log.info({ holder }, `standing by: the process lock is held by ${text}`)
    return text
  }
}

/** Wait; an aborted signal throws its reason. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal.addEventListener('abort', abort, { once: true })
  })
}

const NO_OWNERSHIP: Ownership = { epoch: 0, mark: '' }
const BY_ANOTHER = 'another process has become the active one'
const REPLACED = 'the database is another one than before: a replica took its place'
const MAY_LACK =
  'a replica took the place of the database and may lack what was committed last: this process stops, to load what is stored'
