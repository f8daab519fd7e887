import { isBack } from '../../lib/campaigns/run/catch-up.ts'
import { findRivals } from '../../lib/campaigns/run/overtaken.ts'
import type { StoredCampaignTarget } from '../../lib/store/campaign-targets.ts'
import { findCampaignSummary } from '../../lib/store/campaigns.ts'
import { listOlderWaiting } from '../../lib/store/later-campaigns.ts'
import type { CampaignTarget } from '../../lib/wire/campaigns.ts'
import type { Context } from '../../runtime/context.ts'
import type { Sight } from '../../runtime/define.ts'
import { seesCampaign } from './_campaign-of.ts'

/** What a target that was away waits for, as its record says it. */
export type Wait = Pick<CampaignTarget, 'is_back' | 'waits_for' | 'overtakes'>

/** Targets of a campaign with what those of them wait for that were away. */
export async function withWaits<Target extends StoredCampaignTarget>(
  ctx: Context,
  sight: Sight,
  campaignId: string,
  targets: readonly Target[],
): Promise<(Target & { wait: Wait })[]> {
  const away = targets.filter(({ state }) => state === 'offline').map(({ workloadId }) => workloadId)
  if (away.length === 0) return targets.map((target) => ({ ...target, wait: {} }))
  const rivals = await findRivals(ctx.db, campaignId, away)
  const older = new Map(
    (await listOlderWaiting(ctx.db, campaignId, away)).map((one) => [one.workloadId, one.campaignId]),
  )
  const known = new Map<string, Wait['waits_for']>()
  for (const id of new Set([...rivals.values(), ...older.values()])) {
    const campaign = await findCampaignSummary(ctx.db, id)
    const isSeen = campaign !== null && seesCampaign(ctx, sight, campaign)
    known.set(id, isSeen ? { campaign_id: id, name: campaign.name } : {})
  }
  return targets.map((target) => {
    if (target.state !== 'offline') return { ...target, wait: {} }
    const workload = ctx.fleet.workload(target.workloadId)
    const rival = known.get(rivals.get(target.workloadId) ?? '')
    const overtaken = known.get(older.get(target.workloadId) ?? '')
    const wait: Wait = {
      ...(workload !== null && isBack(workload) ? { is_back: true } : {}),
      ...(rival === undefined ? {} : { waits_for: rival }),
      ...(overtaken === undefined ? {} : { overtakes: overtaken }),
    }
    return { ...target, wait }
  })
}
