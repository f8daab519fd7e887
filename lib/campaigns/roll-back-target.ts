import { recordAlongside } from '../audit/alongside.ts'
import { followedPushes } from '../fleet/state/state.ts'
import { markTargetRollingBack, type StoredCampaignTarget } from '../store/campaign-targets.ts'
import { type StoredCampaign, shareCampaign } from '../store/campaigns.ts'
import { findContent } from '../store/config-contents.ts'
import type { CampaignParts } from './parts.ts'

/** What came of taking one target back. */
export type BackOutcome =
  | { kind: 'started'; pushId: string }
  | { kind: 'offline' }
  | { kind: 'busy' }
  /** It runs something newer: that is left alone. */
  | { kind: 'moved_on' }
  | { kind: 'no_way_back' }
  | { kind: 'refused' }

/** Give a target that still runs what the campaign brought the config it had before. */
export async function rollBackTarget(
  parts: CampaignParts,
  campaign: StoredCampaign,
  target: StoredCampaignTarget,
): Promise<BackOutcome> {
  const workload = parts.fleet.workload(target.workloadId)
  if (workload === null || workload.activeHash !== target.resultHash) return { kind: 'moved_on' }
  if (workload.isFrozen || followedPushes(workload).some(({ push }) => push.status === 'pending'))
    return { kind: 'busy' }
  const base = target.baseHash === null ? null : await findContent(parts.db, target.baseHash)
  if (base === null) return { kind: 'no_way_back' }
  const outcome = await recordAlongside<BackOutcome & { ok: boolean }>(parts.audit, async (record) => {
    const pushed = await parts.fleet.push<'moved-on' | 'refused'>(
      {
        ...{ workloadId: workload.id, hash: base.hash, body: base.body, used: base.components },
        ...{ kind: 'rollback', pushedBy: campaign.closedBy ?? campaign.createdBy, approvalId: null },
        rollbackTargetKind: 'hash',
      },
      async (tx, { pushId }) => {
        if (workload.activeHash !== target.resultHash) return { ok: false, code: 'moved-on' }
        if ((await shareCampaign(tx, campaign.id))?.status !== 'rolling_back')
          return { ok: false, code: 'refused' }
        const back = { campaignId: campaign.id, workloadId: workload.id, pushId }
        if (!(await markTargetRollingBack(tx, back))) return { ok: false, code: 'refused' }
        await record(tx, {
          ...{ action: 'campaign.roll_back', actor: null, resource: 'workload', resourceId: workload.id },
          ...{ configHash: base.hash, detail: JSON.stringify({ campaign_id: campaign.id, push_id: pushId }) },
        })
        return { ok: true }
      },
    )
    if (pushed.ok) return { ok: true, kind: 'started', pushId: pushed.push.pushId }
    if (pushed.code === 'refused') return { ok: false, kind: 'refused' }
    if (pushed.code === 'workload-not-connected') return { ok: false, kind: 'offline' }
    return { ok: false, kind: 'moved_on' }
  })
  return 'kind' in outcome ? outcome : { kind: 'refused' }
}
