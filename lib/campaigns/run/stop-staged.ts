import type { StoredCampaign } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import type { CampaignRun } from './run.ts'

/** The started targets of which only some instances have the change yet, with their rollouts. */
export function listStaged(
  { fleet }: Pick<CampaignParts, 'fleet'>,
  { inFlight }: Pick<CampaignRun, 'inFlight'>,
): { workloadId: string; rolloutId: string }[] {
  const staged: { workloadId: string; rolloutId: string }[] = []
  for (const [workloadId, { pushId, isBack }] of inFlight) {
    const rollout = fleet.workload(workloadId)?.rollout ?? null
    if (!isBack && rollout !== null && rollout.followed.push.pushId === pushId)
      staged.push({ workloadId, rolloutId: rollout.stored.id })
  }
  return staged
}

/**
 * Close the rollouts of a campaign that was aborted, or of those of its targets that cannot be taken back: who has the
 * change keeps it, and nobody else gets it.
 */
export async function stopStaged(
  parts: CampaignParts,
  campaign: StoredCampaign,
  run: CampaignRun,
  isMeant: (workloadId: string) => boolean = () => true,
): Promise<boolean> {
  let hasStopped = false
  for (const { workloadId, rolloutId } of listStaged(parts, run)) {
    if (!isMeant(workloadId)) continue
    const { ok } = await parts.fleet.rollouts.abort(workloadId, rolloutId, closerOf(campaign))
    hasStopped = ok || hasStopped
  }
  return hasStopped
}

/** The user who ended a campaign: in whose name its rollouts are closed, and former configs pushed. */
export const closerOf = ({ closedBy, closedById, createdBy }: StoredCampaign) => ({
  userId: closedById ?? '',
  email: closedBy ?? createdBy,
  askAgain: null,
})
