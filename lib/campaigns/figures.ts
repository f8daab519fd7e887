import type { AboutError } from '../model/alert-about.ts'
import { campaignIs } from '../model/campaign-states.ts'
import { findReachedShares, listMisses, type StoredMiss } from '../store/campaign-outcome.ts'
import type { StoredCampaign } from '../store/campaigns.ts'
import type { Db } from '../store/db.ts'
import type { CampaignFigures } from '../wire/campaigns.ts'
import { toMissRecord } from './record.ts'

/** In percent of the workloads. */
const SHARES = [50, 90, 100]
const MISSES = { most: 20, named: 5 }

/** What is told of why a push failed, beside its cause. */
export type AboutPush = (workloadId: string, pushId: string) => AboutError

/**
 * How fast a campaign has reached its workloads, and why it has not reached others. `within`: the workloads that count,
 * null for all.
 */
export async function readFigures(
  db: Db,
  { id, status, startedAt }: Pick<StoredCampaign, 'id' | 'status' | 'startedAt'>,
  within: readonly string[] | null,
  aboutPush: AboutPush = () => ({}),
): Promise<CampaignFigures> {
  // Whoever is taken back ends anew, at another time.
  const isBack = campaignIs(status, 'goes-back')
  const reached = startedAt === null || isBack ? [] : await findReachedShares(db, id, within, SHARES)
  const missed = await listMisses(db, id, within, MISSES)
  return {
    reached: reached.map(({ percentage, at }) => ({
      percentage,
      ...(at === null ? {} : { at: at.toISOString(), after_seconds: secondsBetween(startedAt!, at) }),
    })),
    missed: missed.map((miss) => ({ ...toMissRecord(miss), ...aboutFirst(miss, aboutPush) })),
  }
}

/** What the first workload says that failed for a cause, and of which it is still known. */
function aboutFirst({ state, ids, pushIds }: StoredMiss, aboutPush: AboutPush): AboutError {
  if (state !== 'failed') return {}
  for (const [at, workloadId] of ids.entries()) {
    const pushId = pushIds[at] ?? null
    const about = pushId === null ? {} : aboutPush(workloadId, pushId)
    if (Object.keys(about).length > 0) return about
  }
  return {}
}

const secondsBetween = (from: Date, to: Date): number => Math.max(0, to.getTime() - from.getTime()) / 1000
