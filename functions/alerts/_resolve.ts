import type { ActTransaction } from '../../lib/audit/database.ts'
import { isStorable } from '../../lib/model/storable.ts'
import { type Alert, resolveByOperator } from '../../lib/store/alerts.ts'
import type { Context } from '../../runtime/context.ts'

/** Longest reason, in UTF-16 units: a note, not a document. */
export const REASON_LENGTH_MAX = 500

/** The reason without the blanks around it; null for what the database cannot keep, or what is too long. */
export function readReason(given: string): string | null {
  const reason = given.trim()
  return isStorable(reason) && reason.length <= REASON_LENGTH_MAX ? reason : null
}

/**
 * Resolve alerts in this order, record who did, and tell of each; returns how many were open. All are resolved before
 * the first is recorded: a record holds the audit trail until the commit, and whoever resolves one of the others
 * meanwhile waits for the trail.
 */
export async function resolveNamed(
  ctx: Pick<Context, 'clock' | 'alerts'>,
  tx: ActTransaction,
  ids: readonly string[],
  reason: string,
): Promise<number> {
  const resolved: Alert[] = []
  for (const id of ids) {
    const alert = await resolveByOperator(tx, id, ctx.clock.now(), reason)
    if (alert !== null) resolved.push(alert)
  }
  for (const alert of resolved) {
    await tx.record({
      action: 'alert.resolve',
      resource: 'alert',
      resourceId: alert.id,
      workloadId: alert.workloadId,
      detail: JSON.stringify({ rule: alert.rule, ...(reason === '' ? {} : { reason }) }),
    })
    tx.afterCommit(() => ctx.alerts.notices.resolved(alert))
  }
  return resolved.length
}
