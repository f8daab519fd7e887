import type { AuditEvent } from '../audit/event.ts'
import type { FleetCounters } from '../fleet/state/counters.ts'
import type { Database, Db } from '../store/db.ts'
import { findNewestPushOfHash } from '../store/pushes.ts'
import { setLabel } from '../store/workload-counts.ts'

/** Give all pushes of a hash on a workload a label; an empty one clears it. */
export async function labelRevision(
  parts: { db: Database; counters: FleetCounters },
  request: { workloadId: string; hash: string; label: string; actor: AuditEvent['actor'] },
  record: (tx: Db, event: AuditEvent) => Promise<void>,
): Promise<{ ok: true } | { ok: false; code: 'revision-not-found' }> {
  const { workloadId, hash, label, actor } = request
  const isThere = await parts.db.transaction('revision.label', async (tx) => {
    if ((await findNewestPushOfHash(tx, workloadId, hash)) === null) return false
    await setLabel(tx, workloadId, hash, label)
    await record(tx, {
      ...{ action: 'config.label', actor, resource: 'workload', resourceId: workloadId },
      ...{ configHash: hash, detail: label },
    })
    return true
  })
  if (!isThere) return { ok: false, code: 'revision-not-found' }
  parts.counters.setLabel(workloadId, hash, label)
  return { ok: true }
}
