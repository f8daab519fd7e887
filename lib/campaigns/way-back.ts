import { countWayBack, listToTakeBack, type StoredWayBack } from '../store/campaign-outcome.ts'
import type { StoredCampaign } from '../store/campaigns.ts'
import type { Db } from '../store/db.ts'
import type { CampaignParts } from './judge/parts.ts'
import { isInOneOf } from './judge/scope.ts'

/** What taking a campaign back would do now, as its roll-back decides it for each workload. */
export async function readWayBack(
  db: Db,
  { fleet }: Pick<CampaignParts, 'fleet'>,
  { id, scope: { cut_to: cutTo } }: Pick<StoredCampaign, 'id' | 'scope'>,
): Promise<StoredWayBack> {
  if (cutTo === undefined) return countWayBack(db, id, [])
  const outside = (await listToTakeBack(db, id)).filter((workloadId) => {
    const workload = fleet.workload(workloadId)
    return workload !== null && !isInOneOf(cutTo, workload)
  })
  return countWayBack(db, id, outside)
}
