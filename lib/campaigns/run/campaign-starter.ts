import { markTargetsStarted, type StoredCampaignTarget } from '../../store/campaign-targets.ts'
import { type CampaignSummary, shareCampaign } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import type { Starter } from './start-targets.ts'

/** The starter of the targets of a campaign. */
export function campaignStarter(
  { clock }: Pick<CampaignParts, 'clock'>,
  campaign: CampaignSummary,
): Starter<StoredCampaignTarget> {
  const { id, change, rules } = campaign
  return {
    id,
    path: 'campaign',
    transaction: 'campaign.push',
    actor: starterOf(campaign),
    fleetConfigId: change.kind === 'version' ? change.fleet_config_id : null,
    retriesQuarantined: rules.retryQuarantined,
    async note(tx, started) {
      const stands = await shareCampaign(tx, id)
      const isCatchingUp =
        stands?.status === 'done' && started.every(({ target }) => target.state === 'offline')
      if (stands?.status !== 'running' && !isCatchingUp) return { ok: false, code: 'starter-stopped' }
      const rows = started.map(({ push: { workloadId, pushId }, wasDegraded, wasDrifted }) => ({
        workloadId,
        pushId,
        wasDegraded,
        wasDrifted,
      }))
      if (!(await markTargetsStarted(tx, id, rows, clock.now())))
        return { ok: false, code: 'starter-stopped' }
      await tx.recordAll(
        started.map(({ push }) => ({
          action: 'campaign.push',
          resource: 'workload',
          resourceId: push.workloadId,
          configHash: push.hash,
          detail: JSON.stringify({ campaign_id: id, push_id: push.pushId }),
        })),
      )
      return { ok: true }
    },
  }
}

/** The user in whose name a campaign pushes: whoever started it. */
const starterOf = ({ startedBy, startedById, createdBy }: CampaignSummary) => ({
  userId: startedById ?? '',
  email: startedBy ?? createdBy,
  askAgain: null,
})
