import type { AuditRecord } from '../store/audit.ts'
import type { Database, Db } from '../store/db.ts'
import type { AuditEvent } from './event.ts'
import type { AuditTrail } from './trail.ts'

/**
 * A database for code that acts by itself (rollbacks, rollouts) and has nobody to answer to: what is recorded
 * in one of its transactions goes to the external sink once that transaction has committed. A sink that does
 * not listen is told of in the log by the trail; the record itself stands.
 */
export function deliverAfterCommit(
  db: Database,
  audit: Pick<AuditTrail, 'record' | 'deliver'>,
): { db: Database; record(tx: Db, event: AuditEvent): Promise<void> } {
  const recorded = new WeakMap<Db, AuditRecord[]>()
  return {
    db: {
      snapshot: (name, work) => db.snapshot(name, work),
      query: (text, params) => db.query(text, params),
      execute: (text, params) => db.execute(text, params),
      async transaction(name, work) {
        let records: AuditRecord[] = []
        const value = await db.transaction(name, (tx) => {
          records = []
          recorded.set(tx, records)
          return work(tx)
        })
        if (records.length > 0) void audit.deliver(records)
        return value
      },
    },
    async record(tx, event) {
      const record = await audit.record(tx, event)
      recorded.get(tx)?.push(record)
    },
  }
}
