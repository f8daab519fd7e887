import type { Workload } from '../fleet/state/model.ts'
import { judgeAftermath, takenBackBy } from '../fleet/views/aftermath.ts'
import { type FailedTarget, listFailedTargets } from '../store/campaign-targets.ts'
import type { Db } from '../store/db.ts'
import { inTurns } from '../turns.ts'
import type { PushAftermath } from '../wire/revisions.ts'

/** Failed targets of one campaign that are looked at to say what became of them. */
const LOOKED_AT_MAX = 5_000
/** Those of them that are looked at in one turn of the event loop. */
const CHUNK = 500

interface Fleet {
  workload(id: string): Workload | null
}

/** What became of the workload of a failed target, by what the fleet knows now; null where it knows nothing. */
export function aftermathOfTarget(
  fleet: Fleet,
  { workloadId, pushId, resultHash }: FailedTarget,
): PushAftermath | null {
  const workload = fleet.workload(workloadId)
  const newest = workload?.newestPush ?? null
  if (workload === null || newest === null || pushId === null || resultHash === null) return null
  if (newest.pushId === pushId)
    return newest.status === 'failed' ? judgeAftermath(workload, newest, null) : null
  const answered = newest.rollbackOfPushId === pushId ? takenBackBy(newest) : null
  if (answered !== null) return judgeAftermath(workload, answered, newest)
  return judgeAftermath(workload, { seq: newest.seq - 1, hash: resultHash }, null)
}

/** How many failed targets of a campaign came to which end since. */
export async function countAftermaths(
  { db, fleet }: { db: Db; fleet: Fleet },
  campaignId: string,
): Promise<Partial<Record<PushAftermath['kind'], number>>> {
  const counts: Partial<Record<PushAftermath['kind'], number>> = {}
  for await (const some of inTurns(await listFailedTargets(db, campaignId, LOOKED_AT_MAX), CHUNK))
    for (const target of some) {
      const kind = aftermathOfTarget(fleet, target)?.kind
      if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1
    }
  return counts
}
