import type { AuditActor } from '../../audit/event.ts'
import type { CampaignSummary } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'

/** Pushes that have not ended, by workload; what gives a former config back says so. */
type Flights = ReadonlyMap<string, { pushId: string; isBack?: boolean }>

/** The started targets of which only some instances have the change yet, with their rollouts. */
export function listStaged(
  { fleet }: Pick<CampaignParts, 'fleet'>,
  { inFlight }: { inFlight: Flights },
): { workloadId: string; rolloutId: string }[] {
  const staged: { workloadId: string; rolloutId: string }[] = []
  for (const [workloadId, { pushId, isBack = false }] of inFlight) {
    const rollout = fleet.workload(workloadId)?.rollout ?? null
    if (!isBack && rollout !== null && rollout.followed.push.pushId === pushId)
      staged.push({ workloadId, rolloutId: rollout.stored.id })
  }
  return staged
}

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
 * Close the rollouts inside started targets, or inside some of them, where nobody carries them on and they are not taken
 * back: who has the change keeps it, and nobody else gets it. `by` is null for what the service does by itself. Answers
 * whether any was closed.
 */
export async function stopStaged(
  parts: Pick<CampaignParts, 'fleet'>,
  run: { inFlight: Flights },
  by: AuditActor | null,
  isMeant: (workloadId: string) => boolean = () => true,
): Promise<boolean> {
  let hasStopped = false
  for (const { workloadId, rolloutId } of listStaged(parts, run)) {
    if (!isMeant(workloadId)) continue
    const { ok } = await parts.fleet.rollouts.abort(workloadId, rolloutId, by)
    hasStopped = ok || hasStopped
  }
  return hasStopped
}

/** The user who ended a campaign: in whose name its rollouts are closed, and former configs pushed. */
export const closerOf = ({ closedBy, closedById, createdBy }: CampaignSummary): AuditActor => ({
  userId: closedById ?? '',
  email: closedBy ?? createdBy,
  askAgain: null,
})
