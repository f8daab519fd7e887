import type { AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { AuditActor } from '../audit/event.ts'
import type { FleetCounters } from '../fleet/state/counters.ts'
import { findNewestPushOfHash } from '../store/pushes.ts'
import { setLabel } from '../store/workload-counts.ts'

/** Give all pushes of a hash on a workload a label; an empty one clears it. */
export function labelRevision(
  parts: { db: AuditedDatabase; counters: FleetCounters },
  request: { workloadId: string; hash: string; label: string; actor: AuditActor },
): Promise<{ ok: true } | { ok: false; code: 'revision-not-found' } | AuditFailure> {
  const { workloadId, hash, label, actor } = request
  return parts.db.change('revision.label', actor, async (tx) => {
    if ((await findNewestPushOfHash(tx, workloadId, hash)) === null)
      return { ok: false, code: 'revision-not-found' }
    await setLabel(tx, workloadId, hash, label)
    await tx.record({
      action: 'config.label',
      resource: 'workload',
      resourceId: workloadId,
      configHash: hash,
      detail: label,
    })
    tx.afterCommit(() => parts.counters.setLabel(workloadId, hash, label))
    return { ok: true }
  })
}
