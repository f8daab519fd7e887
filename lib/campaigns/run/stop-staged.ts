import type { AuditActor } from '../../audit/event.ts'
import { isLastStage } from '../../fleet/decide/rollout-standing.ts'
import type { Rollout } from '../../fleet/state/model.ts'
import type { CampaignSummary } from '../../store/campaigns.ts'
import type { Push } from '../../store/pushes.ts'
import type { CampaignParts } from '../judge/parts.ts'

/** Whose pushes: those of a campaign, or of a version that applies by itself. */
export type Pusher = { campaignId: string } | { autoApplyId: string }

const isOf = (push: Push, by: Pusher): boolean =>
  'campaignId' in by ? push.campaignId === by.campaignId : push.autoApplyId === by.autoApplyId

/** The rollouts that are running or halted, with their workloads. */
function listOpenRollouts({
  fleet,
}: Pick<CampaignParts, 'fleet'>): { workloadId: string; rollout: Rollout }[] {
  const open: { workloadId: string; rollout: Rollout }[] = []
  for (const { id: workloadId, rollout } of fleet.state.rollingOut)
    if (rollout !== null && ['running', 'halted'].includes(rollout.stored.status))
      open.push({ workloadId, rollout })
  return open
}

/** The targets of which only some instances have the change yet, with their rollouts, be they running or halted. */
export const listStaged = (
  parts: Pick<CampaignParts, 'fleet'>,
  by: Pusher,
): { workloadId: string; rolloutId: string }[] =>
  listOpenRollouts(parts)
    .filter(({ rollout }) => isOf(rollout.followed.push, by))
    .map(({ workloadId, rollout }) => ({ workloadId, rolloutId: rollout.stored.id }))

/** How many targets have stages that halted and are open still: somebody may let them go on. */
export const countHaltedStages = (parts: Pick<CampaignParts, 'fleet'>, by: Pusher): number =>
  listOpenRollouts(parts).filter(
    ({ rollout: { followed, stored } }) => stored.status === 'halted' && isOf(followed.push, by),
  ).length

/** Whether a target goes on to a next stage by itself: one that halted, or is at its last, does not. */
export const hasStageToCome = (parts: Pick<CampaignParts, 'fleet'>, by: Pusher): boolean =>
  listOpenRollouts(parts).some(
    ({ rollout: { followed, stored } }) =>
      isOf(followed.push, by) && stored.status === 'running' && !isLastStage(stored, stored.stageIndex),
  )

/** The campaigns, or the versions that apply by themselves, of which a target has such a rollout. */
export const listAmidStages = (
  parts: Pick<CampaignParts, 'fleet'>,
  kind: 'campaignId' | 'autoApplyId',
): string[] => [
  ...new Set(listOpenRollouts(parts).flatMap(({ rollout }) => rollout.followed.push[kind] ?? [])),
]

/**
 * Whether a target is in the middle of its stages. These end or halt by themselves, or wait for what stopped those who
 * brought it there, a hold or a freeze; until then they are closed with what started them.
 */
export function isInStages(
  { fleet }: Pick<CampaignParts, 'fleet'>,
  workloadId: string,
  { pushId }: { pushId: string },
): boolean {
  const rollout = fleet.workload(workloadId)?.rollout ?? null
  return rollout?.followed.push.pushId === pushId && rollout.stored.status === 'running'
}

/**
 * Close the rollouts inside targets, or inside some of them, where nobody carries them on and they are not taken
 * back: who has the change keeps it, and nobody else gets it. `by` is null for what the service does by itself. Answers
 * whether any was closed.
 */
export async function stopStaged(
  parts: Pick<CampaignParts, 'fleet'>,
  of: Pusher,
  by: AuditActor | null,
  isMeant: (workloadId: string) => boolean = () => true,
): Promise<boolean> {
  let hasStopped = false
  for (const { workloadId, rolloutId } of listStaged(parts, of)) {
    if (!isMeant(workloadId)) continue
    const { ok } = await parts.fleet.rollouts.abort(workloadId, rolloutId, by)
    hasStopped = ok || hasStopped
  }
  return hasStopped
}

/** The user, or token, that ended a campaign: in whose name its rollouts are closed, and former configs pushed. */
export const closerOf = ({
  closedBy,
  closedById,
  closedByToken,
  createdBy,
}: CampaignSummary): AuditActor => ({
  userId: closedById ?? '',
  email: closedBy ?? createdBy,
  apiToken: closedByToken,
  askAgain: null,
})
