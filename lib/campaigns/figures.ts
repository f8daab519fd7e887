import { findReachedShares, listMisses } from '../store/campaign-outcome.ts'
import type { StoredCampaign } from '../store/campaigns.ts'
import type { Db } from '../store/db.ts'
import type { CampaignFigures } from '../wire/campaigns.ts'
import { toMissRecord } from './record.ts'

/** In percent of the workloads. */
const SHARES = [50, 90, 100]
const MISSES = { most: 20, named: 5 }

/**
 * How fast a campaign has reached its workloads, and why it has not reached others. `within`: the workloads that count,
 * null for all.
 */
export async function readFigures(
  db: Db,
  { id, status, startedAt }: Pick<StoredCampaign, 'id' | 'status' | 'startedAt'>,
  within: readonly string[] | null,
): Promise<CampaignFigures> {
  // Whoever is taken back ends anew, at another time.
  const isBack = status === 'rolling_back' || status === 'rolled_back'
  const reached = startedAt === null || isBack ? [] : await findReachedShares(db, id, within, SHARES)
  const missed = await listMisses(db, id, within, MISSES)
  return {
    reached: reached.map(({ percentage, at }) => ({
      percentage,
      ...(at === null ? {} : { at: at.toISOString(), after_seconds: secondsBetween(startedAt!, at) }),
    })),
    missed: missed.map(toMissRecord),
  }
}

const secondsBetween = (from: Date, to: Date): number => Math.max(0, to.getTime() - from.getTime()) / 1000
