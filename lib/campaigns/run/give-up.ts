import type { StageHold } from '../../fleet/state/model.ts'
import { isOverByItself, type LastingHold } from '../../model/stage-holds.ts'
import { endCampaignTargets } from '../../store/campaign-targets.ts'
import type { CampaignSummary } from '../../store/campaigns.ts'
import type { Db } from '../../store/db.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { isInStages } from './stop-staged.ts'

/**
 * What kept a target from its next stage when that was last asked, and does for as long as nobody changes the workload;
 * null for nothing, or for a while.
 */
export function lastingHoldOf(
  parts: Pick<CampaignParts, 'fleet'>,
  workloadId: string,
  flight: { pushId: string },
): StageHold | null {
  if (!isInStages(parts, workloadId, flight)) return null
  const hold = parts.fleet.workload(workloadId)?.rollout?.hold
  return hold === undefined || isOverByItself(hold.reason) ? null : hold
}

/**
 * End a target amid its stages that something keeps from the next one, unless that is over now: who has the change keeps
 * it, as where a campaign is aborted, and nobody else gets it. It is skipped with what holds it, as it had been at its
 * turn. Answers whether it has ended.
 */
export const giveUp = (
  parts: CampaignParts,
  { id }: CampaignSummary,
  workloadId: string,
  flight: { pushId: string },
): Promise<boolean> =>
  giveUpStages(parts, workloadId, flight, (tx, { reason, about }) => {
    const end = { workloadId, state: 'skipped', reason, title: about === '' ? null : about } as const
    return endCampaignTargets(tx, id, ['started'], [end], parts.clock.now())
  })

/** End the stages of a push that are kept from going on as long as nobody changes the workload; `end` ends its target. */
export async function giveUpStages(
  parts: Pick<CampaignParts, 'fleet'>,
  workloadId: string,
  flight: { pushId: string },
  end: (tx: Db, hold: StageHold & { reason: LastingHold }) => Promise<void>,
): Promise<boolean> {
  const rollout = parts.fleet.workload(workloadId)?.rollout ?? null
  if (rollout === null) return false
  // With the end of its stages, so that no crash leaves one without the other.
  const { ok } = await parts.fleet.rollouts.giveUp(workloadId, rollout.stored.id, async (tx, hold) => {
    const { reason, about } = hold
    if (!isInStages(parts, workloadId, flight) || isOverByItself(reason)) return false
    await end(tx, { reason, about })
    return true
  })
  return ok
}
