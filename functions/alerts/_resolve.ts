import type { ActTransaction } from '../../lib/audit/database.ts'
import { isStorable } from '../../lib/model/storable.ts'
import { resolveByOperator } from '../../lib/store/alerts.ts'
import type { Context } from '../../runtime/context.ts'

/** Longest reason, in UTF-16 units: a note, not a document. */
export const REASON_LENGTH_MAX = 500

/** The reason without the blanks around it; null for what the database cannot keep, or what is too long. */
export function readReason(given: string): string | null {
  const reason = given.trim()
  return isStorable(reason) && reason.length <= REASON_LENGTH_MAX ? reason : null
}

/** Resolve an alert, record who did, and tell of it; false where it is resolved already, or is not there. */
export async function resolveAlert(
  ctx: Pick<Context, 'clock' | 'alerts'>,
  tx: ActTransaction,
  id: string,
  reason: string,
): Promise<boolean> {
  const resolved = await resolveByOperator(tx, id, ctx.clock.now(), reason)
  if (resolved === null) return false
  await tx.record({
    action: 'alert.resolve',
    resource: 'alert',
    resourceId: resolved.id,
    workloadId: resolved.workloadId,
    detail: JSON.stringify({ rule: resolved.rule, ...(reason === '' ? {} : { reason }) }),
  })
  tx.afterCommit(() => ctx.alerts.notices.resolved(resolved))
  return true
}
