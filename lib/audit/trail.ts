import type { Clock } from '../clock.ts'
import { type Random, uuidv7 } from '../ids.ts'
import type { Log } from '../log.ts'
import { type AuditRecord, insertAuditRecord, lockAuditChain, readAuditHead } from '../store/audit.ts'
import { type Database, DatabaseUnavailable, type Db } from '../store/db.ts'
import { type AuditEvent, chainEvent } from './event.ts'

/** Somewhere outside that must hear of every event (an edition's archive). A call that throws has failed. */
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

/** Writes what happened, in the transaction of the change itself, so that the two cannot part. */
export interface AuditTrail {
  /**
   * Run a change and its records in one transaction. `record` must be the last statement of `work` (it holds the
   * chain's lock until the commit); a `work` that changed nothing may leave it out. The external sink is called
   * after the commit, or before it with `sink: 'before-commit'`: for a change that must not stand without its record
   * outside (a login), or none at all (a policy block).
   */
  change<T>(
    work: (tx: Db, record: (event: AuditEvent) => Promise<void>) => Promise<T>,
    options?: { sink?: 'before-commit' | 'after-commit' },
  ): Promise<{ ok: true; value: T } | AuditFailure>
  /** Record something that changed nothing: `sideEffect` of a failure is always `none`. */
  observe(event: AuditEvent): Promise<{ ok: true } | AuditFailure>
  /**
   * For callers that own their transaction: append a record as its last statement. After the commit give what was
   * returned to `deliver`.
   */
  record(tx: Db, event: AuditEvent): Promise<AuditRecord>
  /** Tell the external sink about committed records. */
  deliver(records: readonly AuditRecord[]): Promise<{ ok: true } | AuditFailure>
}

const SINK_TIMEOUT_MS = 5_000

/** The trail over PostgreSQL, with an edition's external sink. */
export function openAuditTrail(parts: {
  db: Database
  clock: Clock
  random: Random
  log: Log
  sink: AuditSink
  /** Throws when another process has become the active one: then no change that is recorded stands. */
  checkEpoch(tx: Db): Promise<void>
}): AuditTrail {
  return new ChainedTrail(parts)
}

class ChainedTrail implements AuditTrail {
  readonly #parts: Parameters<typeof openAuditTrail>[0]

  constructor(parts: Parameters<typeof openAuditTrail>[0]) {
    this.#parts = parts
  }

  async change<T>(
    work: (tx: Db, record: (event: AuditEvent) => Promise<void>) => Promise<T>,
    options: { sink?: 'before-commit' | 'after-commit' } = {},
  ): Promise<{ ok: true; value: T } | AuditFailure> {
    const isBefore = options.sink === 'before-commit'
    const records: AuditRecord[] = []
    let value: T
    try {
      value = await this.#parts.db.transaction('audit', async (tx) => {
        const done = await work(tx, async (event) => {
          records.push(await this.record(tx, event))
        })
        if (isBefore) await this.#tellSink(records)
        return done
      })
    } catch (error) {
      return this.#toFailure(error)
    }
    if (isBefore) return { ok: true, value }
    const delivered = await this.deliver(records)
    return delivered.ok ? { ok: true, value } : delivered
  }

  async observe(event: AuditEvent): Promise<{ ok: true } | AuditFailure> {
    const outcome = await this.change((_, record) => record(event), { sink: 'before-commit' })
    return outcome.ok ? { ok: true } : outcome
  }

  async record(tx: Db, event: AuditEvent): Promise<AuditRecord> {
    const { clock, random } = this.#parts
    try {
      await this.#parts.checkEpoch(tx)
      await lockAuditChain(tx)
      // The time is read under the lock as well, so that the chain's order is the order of its times.
      const now = clock.now()
      const record = chainEvent(event, await readAuditHead(tx), uuidv7(now, random), now)
      await insertAuditRecord(tx, record)
      return record
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error
      throw new AuditWriteError('audit record was not written', { cause: error })
    }
  }

  async deliver(records: readonly AuditRecord[]): Promise<{ ok: true } | AuditFailure> {
    try {
      await this.#tellSink(records)
      return { ok: true }
    } catch (error) {
      this.#parts.log.error({ err: error }, 'audit sink failed after the change was committed')
      return { ok: false, code: 'audit-unavailable', sideEffect: 'applied' }
    }
  }

  async #tellSink(records: readonly AuditRecord[]): Promise<void> {
    for (const record of records) {
      try {
        await withTimeLimit(this.#parts.sink.deliver(record))
      } catch (error) {
        throw new AuditWriteError('audit sink refused a record', { cause: error })
      }
    }
  }

  /** Whatever failed inside the transaction was rolled back; what was not the audit's fault goes on up. */
  #toFailure(error: unknown): AuditFailure {
    if (!(error instanceof AuditWriteError)) throw error
    this.#parts.log.error({ err: error.cause }, error.message)
    return { ok: false, code: 'audit-unavailable', sideEffect: 'none' }
  }
}

/** A sink that hangs is a sink that failed: the change's transaction may be waiting for it. */
async function withTimeLimit(delivery: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), SINK_TIMEOUT_MS)
  })
  await Promise.race([delivery, late]).finally(() => clearTimeout(timer))
}

class AuditWriteError extends Error {
  override readonly name = 'AuditWriteError'
}

/** Did a change fail because its audit entry could not be written? */
export const isAuditWriteError = (error: unknown): boolean => error instanceof AuditWriteError
