import type { AuditRecord } from '../store/audit.ts'
import type { Db } from '../store/db.ts'
import type { AuditEvent } from './event.ts'
import { type AuditFailure, type AuditTrail, isAuditWriteError } from './trail.ts'

/**
 * Run a change that owns its transaction, with a `record` for its audit entries. An entry that cannot be
 * written takes the change back (`none`); after a change that stands, the external sink is told (`applied` when
 * it does not listen). A change that answers `ok: false` was taken back, and so were its entries.
 */
export async function recordAlongside<T extends { ok: boolean }>(
  audit: AuditTrail,
  work: (record: (tx: Db, event: AuditEvent) => Promise<void>) => Promise<T>,
): Promise<T | AuditFailure> {
  const records: AuditRecord[] = []
  let outcome: T
  try {
    outcome = await work(async (tx, event) => {
      records.push(await audit.record(tx, event))
    })
  } catch (error) {
    if (!isAuditWriteError(error)) throw error
    return { ok: false, code: 'audit-unavailable', sideEffect: 'none' }
  }
  if (!outcome.ok) return outcome
  const delivered = await audit.deliver(records)
  return delivered.ok ? outcome : delivered
}
