import type { Clock } from '../clock.ts'
import { type Random, uuidv7 } from '../ids.ts'
import type { Log } from '../log.ts'
import { type AuditRecord, insertAuditRecords, lockAuditChain, readAuditHead } from '../store/audit.ts'
import { CommitInDoubt, type Database, DatabaseUnavailable, type Db } from '../store/db.ts'
import { AuditDelivery, type AuditFailure, type AuditSink, AuditWriteError } from './delivery.ts'
import { type AuditActor, type AuditEvent, chainEvent } from './event.ts'
import { AuditLockHolds } from './lock-holds.ts'

/** The result of an act. A transaction whose work returns one that is not ok is rolled back. */
interface Outcome {
  ok: boolean
}

/** The one transaction of an act. */
export interface ActTransaction extends Db {
  /**
   * Append a record to the audit log, in the name of the actor. It must be the last statement, because it holds the
   * lock of the audit chain until the commit. An act that changed nothing need not record anything.
   */
  record(event: Omit<AuditEvent, 'actor'>): Promise<void>
  /** Append several records in this order, with as many statements as for one. */
  recordAll(events: readonly Omit<AuditEvent, 'actor'>[]): Promise<void>
  /** Append these records behind all others, when the work of the transaction is done: it need not be its end. */
  recordBehind(events: readonly Omit<AuditEvent, 'actor'>[]): void
  /** Call `tell` after the commit, once the `work` of the whole act is done. `tell` must be cheap and never throw. */
  afterCommit(tell: () => void): void
}

/** One thing that an actor does, with at most one transaction. */
export interface Act {
  /**
   * Run `work` in the transaction, after writing what agents have reported so far. The transaction is rolled back, with
   * its records, when `work` throws, its outcome is not ok, or the actor may not make the change any more. Throws `CommitInDoubt` when it is not known whether the
   * commit succeeded. May be called once only.
   */
  commit<const T extends Outcome>(work: (tx: ActTransaction) => Promise<T>): Promise<T>
}

/** How `AuditedDatabase.change` differs from its defaults for one change. */
export interface ChangeOptions {
  /**
   * When the outside sink is told: after the commit (the default), or before it for a change that must not stand
   * without its record in the sink (a login).
   */
  sink?: 'before-commit' | 'after-commit'
  /**
   * Whether what agents have reported so far is written first (the default); false for what has nothing to do with the
   * fleet.
   */
  waitsForReports?: boolean
}

/**
 * The database as code that changes something uses it: writing what agents reported before, the change, its record in
 * the audit log and what others are told of it are one act with a name.
 */
export interface AuditedDatabase extends Database {
  /** How long transactions have kept other writers of audit records waiting. */
  readonly auditLock: AuditLockHolds
  /**
   * Run `work` for an actor (null for what the service does by itself) in one transaction of this name. A record that
   * cannot be written rolls the change back (`sideEffect: 'none'`). After the commit the outside sink is told; when it
   * fails, the change stands all the same (`sideEffect: 'applied'`).
   */
  change<const T extends Outcome>(
    name: string,
    actor: AuditActor | null,
    work: (tx: ActTransaction) => Promise<T>,
    options?: ChangeOptions,
  ): Promise<T | AuditFailure>
  /**
   * The same for a caller that has more to do than the transaction, for example under a lock of its own: the sink is
   * told only when `work` has returned, so that nobody waits for the sink under that lock.
   */
  act<const T extends Outcome>(
    name: string,
    actor: AuditActor | null,
    work: (act: Act) => Promise<T>,
  ): Promise<T | AuditFailure>
  /** Record something that changed nothing: `sideEffect` of a failure is always `none`. */
  observe(event: AuditEvent): Promise<{ ok: true } | AuditFailure>
  /**
   * Write what agents have reported so far, then return this database, for readers that need it. Resolves also while
   * the database is away.
   */
  upToDate(): Promise<Database>
  /**
   * Wait until the database has come to an end with every change whose commit got no answer: what is read from then on
   * is final. Throws while the database is away.
   */
  doubtedEnded(): Promise<void>
  /**
   * Tell the sink of the records whose commit got no answer and that the database turns out to hold. Throws while the
   * database cannot say.
   */
  settleDoubts(): Promise<void>
}

/** What an audited database is made of. */
export interface AuditedDatabaseParts {
  /** The active process's: it refuses every transaction once another process is the active one. */
  db: Database
  clock: Clock
  random: Random
  log: Log
  sink: AuditSink
  /** Write what agents have reported so far. Resolves also while the database is away. */
  writeReports(): Promise<void>
  /** Called before a caller is told of a failure although its change stands, or may stand: it follows nothing. */
  standsUnheard(): void
}

/** Open an audited database over the active process's database, with an edition's outside sink. */
export function openAuditedDatabase(parts: AuditedDatabaseParts): AuditedDatabase {
  return new ActingDatabase(parts)
}

class ActingDatabase implements AuditedDatabase {
  readonly auditLock = new AuditLockHolds()
  readonly #parts: AuditedDatabaseParts
  readonly #delivery: AuditDelivery

  constructor(parts: AuditedDatabaseParts) {
    this.#parts = parts
    this.#delivery = new AuditDelivery(parts.sink, parts.log)
  }

  query<Row extends object>(text: string, params?: readonly unknown[]): Promise<Row[]> {
    return this.#parts.db.query<Row>(text, params)
  }

  execute(text: string, params?: readonly unknown[]): Promise<number> {
    return this.#parts.db.execute(text, params)
  }

  snapshot<T>(name: string, work: (tx: Db) => Promise<T>): Promise<T> {
    return this.#parts.db.snapshot(name, work)
  }

  async transaction<T>(name: string, work: (tx: Db) => Promise<T>): Promise<T> {
    try {
      return await this.#parts.db.transaction(name, work)
    } catch (error) {
      if (error instanceof CommitInDoubt) this.#parts.standsUnheard()
      throw error
    }
  }

  change<const T extends Outcome>(
    name: string,
    actor: AuditActor | null,
    work: (tx: ActTransaction) => Promise<T>,
    options: ChangeOptions = {},
  ): Promise<T | AuditFailure> {
    return this.#perform(name, actor, (act) => act.commit(work), options)
  }

  act<const T extends Outcome>(
    name: string,
    actor: AuditActor | null,
    work: (act: Act) => Promise<T>,
  ): Promise<T | AuditFailure> {
    return this.#perform(name, actor, work, {})
  }

  observe({ actor, ...event }: AuditEvent): Promise<{ ok: true } | AuditFailure> {
    const record = async (tx: ActTransaction): Promise<{ ok: true }> => {
      await tx.record(event)
      return { ok: true }
    }
    // What was seen is recorded whether or not the actor could still do something.
    const seen = actor === null ? null : { ...actor, askAgain: null }
    return this.change('audit.observe', seen, record, { sink: 'before-commit', waitsForReports: false })
  }

  async upToDate(): Promise<Database> {
    await this.#parts.writeReports()
    return this
  }

  doubtedEnded(): Promise<void> {
    return this.#delivery.doubtedEnded(this)
  }

  settleDoubts(): Promise<void> {
    return this.#delivery.settle(this)
  }

  async #perform<T extends Outcome>(
    name: string,
    actor: AuditActor | null,
    work: (act: Act) => Promise<T>,
    options: ChangeOptions,
  ): Promise<T | AuditFailure> {
    const act = new OpenAct(this.#parts, this, this.#delivery, name, actor, options)
    try {
      const outcome = await work(act)
      const told = await act.conclude()
      if (!outcome.ok || told.ok) return outcome
      this.#parts.standsUnheard()
      return told
    } catch (error) {
      // `work` may throw after its commit: the change stands, so the others and the sink are told of it.
      if (act.stands) this.#parts.standsUnheard()
      await act.conclude()
      if (!(error instanceof AuditWriteError)) throw error
      this.#parts.log.error({ err: error.cause }, error.message)
      return { ok: false, code: 'audit-unavailable', sideEffect: 'none' }
    }
  }
}

/** Thrown inside a transaction to roll it back; carries the outcome that `work` returned. */
class TakenBack extends Error {
  readonly outcome: unknown

  constructor(outcome: unknown) {
    super('taken back')
    this.outcome = outcome
  }
}

class OpenAct implements Act {
  readonly #parts: AuditedDatabaseParts
  readonly #db: AuditedDatabase
  readonly #delivery: AuditDelivery
  readonly #name: string
  readonly #actor: AuditActor | null
  readonly #options: ChangeOptions
  readonly #records: AuditRecord[] = []
  readonly #behind: Omit<AuditEvent, 'actor'>[] = []
  readonly #tells: (() => void)[] = []
  #hasBegun = false
  /** When this act got the lock of the audit chain; monotonic. Null before. */
  #lockedMs: number | null = null
  #stands = false

  constructor(
    parts: AuditedDatabaseParts,
    db: AuditedDatabase,
    delivery: AuditDelivery,
    name: string,
    actor: AuditActor | null,
    options: ChangeOptions,
  ) {
    this.#parts = parts
    this.#db = db
    this.#delivery = delivery
    this.#name = name
    this.#actor = actor
    this.#options = options
  }

  /** The transaction is committed, and neither the listeners nor the sink were told yet. */
  get stands(): boolean {
    return this.#stands
  }

  async commit<const T extends Outcome>(work: (tx: ActTransaction) => Promise<T>): Promise<T> {
    if (this.#hasBegun) throw new Error(`Cannot begin a second transaction in the act "${this.#name}"`)
    this.#hasBegun = true
    if (this.#options.waitsForReports !== false) await this.#parts.writeReports()
    try {
      const outcome = await this.#db.transaction(this.#name, async (tx) => {
        await this.#actor?.askAgain?.(tx, 'at-begin')
        const outcome = await work(this.#join(tx))
        if (!outcome.ok) throw new TakenBack(outcome)
        await this.#record(tx, this.#behind)
        if (this.#options.sink === 'before-commit') await this.#delivery.tell(this.#records)
        return outcome
      })
      this.#stands = true
      return outcome
    } catch (error) {
      if (error instanceof TakenBack) return error.outcome as T
      if (error instanceof CommitInDoubt && this.#options.sink !== 'before-commit')
        this.#delivery.doubt(this.#records)
      throw error
    } finally {
      if (this.#lockedMs !== null)
        this.#db.auditLock.note(this.#name, this.#parts.clock.monotonicMs() - this.#lockedMs)
    }
  }

  #join(tx: Db): ActTransaction {
    return {
      query: (text, params) => tx.query(text, params),
      execute: (text, params) => tx.execute(text, params),
      record: (event) => this.#record(tx, [event]),
      recordAll: (events) => this.#record(tx, events),
      recordBehind: (events) => void this.#behind.push(...events),
      afterCommit: (tell) => void this.#tells.push(tell),
    }
  }

  async #record(tx: Db, events: readonly Omit<AuditEvent, 'actor'>[]): Promise<void> {
    if (events.length === 0) return
    const { clock, random } = this.#parts
    await forRecord(() => lockAuditChain(tx))
    this.#lockedMs ??= clock.monotonicMs()
    // Taking a right away is recorded as well: what is asked under the lock stays true until this is committed.
    if (this.#records.length === 0) await this.#actor?.askAgain?.(tx, 'at-record')
    await forRecord(async () => {
      // The time is read under the lock as well, so that the chain's order is the order of its times.
      const now = clock.now()
      let head = await readAuditHead(tx)
      const records: AuditRecord[] = []
      for (const event of events) {
        const record = chainEvent({ ...event, actor: this.#actor }, head, uuidv7(now, random), now)
        records.push(record)
        head = { seq: record.seq, hash: record.eventHash }
      }
      await insertAuditRecords(tx, records)
      this.#records.push(...records)
    })
  }

  /** Tell of a committed change: first the `afterCommit` listeners, then the outside sink. */
  async conclude(): Promise<{ ok: true } | AuditFailure> {
    if (!this.#stands) return { ok: true }
    this.#stands = false
    for (const tell of this.#tells) tell()
    if (this.#options.sink === 'before-commit') return { ok: true }
    return this.#delivery.deliver(this.#records)
  }
}

/** Do what a record needs of the database; where that fails, the record was not written. */
async function forRecord(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error
    throw new AuditWriteError('audit record was not written', { cause: error })
  }
}
