import type { Log } from '../log.ts'
import { type AuditRecord, findAuditRecords, lockAuditChain } from '../store/audit.ts'
import type { Database } from '../store/db.ts'

/**
 * A place outside the database that is told of every record (an archive of the edition). A call that throws has failed.
 */
export interface AuditSink {
  deliver(record: AuditRecord): Promise<void>
}

/** The sink of an edition that has none. */
export const noAuditSink: AuditSink = { deliver: async () => undefined }

/** An audit record could not be written or delivered; `sideEffect` says whether the change itself stands. */
export interface AuditFailure {
  ok: false
  code: 'audit-unavailable'
  sideEffect: 'none' | 'applied'
}

/** A record could not be written, or the sink refused one that had to come before the commit. */
export class AuditWriteError extends Error {
  override readonly name = 'AuditWriteError'
}

const SINK_TIMEOUT_MS = 5_000
/**
 * Records kept whose commit was in doubt, until the database says whether it has them. There are as many as
 * transactions that were under way when a connection was lost; more can only be while the database comes and goes
 * without ever answering.
 */
export const DOUBTED_MAX = 1_000

/** Tells the sink of records: after their commit, or before it where the change depends on the sink. */
export class AuditDelivery {
  readonly #sink: AuditSink
  readonly #log: Log
  #doubted: AuditRecord[] = []

  constructor(sink: AuditSink, log: Log) {
    this.#sink = sink
    this.#log = log
  }

  /** Tell the sink of records that are committed. */
  async deliver(records: readonly AuditRecord[]): Promise<{ ok: true } | AuditFailure> {
    try {
      await this.tell(records)
      return { ok: true }
    } catch (error) {
      this.#log.error({ err: error }, 'audit sink failed after the change was committed')
      return { ok: false, code: 'audit-unavailable', sideEffect: 'applied' }
    }
  }

  /** Tell the sink of records; throws `AuditWriteError` at the first that it does not take. */
  async tell(records: readonly AuditRecord[]): Promise<void> {
    for (const record of records) {
      try {
        await withTimeLimit(this.#sink.deliver(record))
      } catch (error) {
        throw new AuditWriteError('audit sink refused a record', { cause: error })
      }
    }
  }

  /** Keep records, of which it is not known whether they were committed, until `settle`. */
  doubt(records: readonly AuditRecord[]): void {
    this.#doubted.push(...records)
    const lost = this.#doubted.splice(0, Math.max(0, this.#doubted.length - DOUBTED_MAX))
    if (lost.length > 0) this.#log.error({ records: lost.length }, 'the audit sink may not be told of these')
  }

  /** Wait until every transaction that wrote a record in doubt has ended. Throws while the database is away. */
  async doubtedEnded(db: Database): Promise<void> {
    if (this.#doubted.length > 0) await db.transaction('audit.wait', lockAuditChain)
  }

  /** Ask the database about the records in doubt, and tell the sink of those that stand. Throws while it is away. */
  async settle(db: Database): Promise<void> {
    const doubted = [...this.#doubted]
    if (doubted.length === 0) return
    const standing = await db.transaction('audit.settle', async (tx) => {
      // A transaction that wrote a record holds this lock until it has ended. Once we have the lock, every doubted
      // record is either committed or gone.
      await lockAuditChain(tx)
      return findAuditRecords(
        tx,
        doubted.map(({ id }) => id),
      )
    })
    this.#doubted = this.#doubted.filter((record) => !doubted.includes(record))
    await this.deliver(standing)
  }
}

/** A sink that does not answer in time has failed, because the transaction of the change may be waiting for it. */
async function withTimeLimit(delivery: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), SINK_TIMEOUT_MS)
  })
  await Promise.race([delivery, late]).finally(() => clearTimeout(timer))
}
