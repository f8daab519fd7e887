import type { StoredAutoApply } from '../store/auto-apply.ts'
import {
  countAutoApplyFailures,
  listEndedAutoApplyTargets,
  type StoredAutoApplyTarget,
} from '../store/auto-apply-targets.ts'
import type { Db } from '../store/db.ts'
import type { AutoApplyHold } from '../wire/auto-apply.ts'

/** So many pushes that fail one after the other stop a version from applying by itself. */
export const FAILED_IN_A_ROW = 3
/**
 * It stops, too, when more pushes fail within an hour than this, or than one in twenty of the workloads under the fleet
 * config where that is more.
 */
const FAILED_IN_AN_HOUR = 10
const HOUR_MS = 3_600_000
const NAMED_MAX = 20

const hasFailed = ({ state }: Pick<StoredAutoApplyTarget, 'state'>): boolean =>
  state === 'failed' || state === 'no_answer'

/**
 * Why failures stop a version from applying by itself; null when it may go on. Pushes that were started before somebody
 * last continued it do not count.
 */
export async function findFailureHalt(
  db: Db,
  autoApply: StoredAutoApply,
  { underCount, now }: { underCount: number; now: Date },
): Promise<AutoApplyHold | null> {
  const since = autoApply.countedSince ?? now
  const last = await listEndedAutoApplyTargets(db, autoApply.id, { since, limit: NAMED_MAX })
  const firstWell = last.findIndex((target) => !hasFailed(target))
  const inARow = firstWell === -1 ? last.length : firstWell
  if (inARow >= FAILED_IN_A_ROW)
    return describe('failed_in_a_row', inARow, FAILED_IN_A_ROW, last.slice(0, inARow))
  const endedSince = new Date(now.getTime() - HOUR_MS)
  const inAnHour = await countAutoApplyFailures(db, autoApply.id, { startedSince: since, endedSince })
  const limit = Math.max(FAILED_IN_AN_HOUR, Math.floor(underCount / 20))
  return inAnHour > limit ? describe('failed_in_an_hour', inAnHour, limit, last.filter(hasFailed)) : null
}

function describe(
  gate: AutoApplyHold['gate'],
  value: number,
  limit: number,
  failed: readonly StoredAutoApplyTarget[],
): AutoApplyHold {
  const [newest] = failed
  return {
    gate,
    value,
    limit,
    workload_ids: failed.map(({ workloadId }) => workloadId),
    ...(newest?.cause == null ? {} : { cause: newest.cause }),
    ...(newest?.title == null ? {} : { title: newest.title }),
  }
}
