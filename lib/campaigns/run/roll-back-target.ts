import { findNotReturning } from '../../changes/approved-as-now.ts'
import { hasOpenPush, isActiveConfigOpen } from '../../fleet/pushes/find-obstacle.ts'
import type { Workload } from '../../fleet/state/model.ts'
import { markByItselfRollingBack } from '../../store/auto-apply-roll-back.ts'
import { markTargetRollingBack, type StoredCampaignTarget } from '../../store/campaign-targets.ts'
import { type CampaignSummary, shareCampaign } from '../../store/campaigns.ts'
import { findContent } from '../../store/config-contents.ts'
import type { Db } from '../../store/db.ts'
import { isAboutToGet } from '../../store/later-campaigns.ts'
import { findWayBack, wasBroughtAgain } from '../../store/ran-before.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { isInOneOf } from '../judge/scope.ts'
import { closerOf } from './stop-staged.ts'

/** A workload that is taken back: a target of the campaign, or one that got the campaign's version by itself. */
export interface BackTarget
  extends Pick<
    StoredCampaignTarget,
    'workloadId' | 'baseHash' | 'resultHash' | 'pushId' | 'state' | 'instanceCount'
  > {
  isByItself: boolean
}

/** What came of taking one target back. */
export type BackOutcome =
  | { kind: 'started'; pushId: string }
  | { kind: 'offline' }
  /** `isUnsure` where it may have been pushed to all the same: the run is to be read again. */
  | { kind: 'busy'; isUnsure?: true }
  /**
   * The workload is gone, runs something newer, or what somebody else has brought: it is left alone. `mayComeBack` where
   * a failed push may still lead it back to what the campaign brought.
   */
  | { kind: 'moved_on'; mayComeBack?: true }
  /** It has left the scopes which the campaign is cut to: it is left alone, whatever it runs. */
  | { kind: 'left_scope' }
  /** There is no former config, or none that may be brought back (`findWayBack`), which the reason says. */
  | { kind: 'no_way_back'; reason: 'approved_for_less' | 'base_not_approved' | null }
  | { kind: 'refused' }

/** Why, in the transaction of the push, nothing is taken back. */
interface NotPushed {
  ok: false
  code: 'approved-for-less' | 'moved-on' | 'left-scope' | 'campaign-stopped'
}

/** Push its former config to a target that still runs what the campaign brought. */
export async function rollBackTarget(
  parts: CampaignParts,
  campaign: CampaignSummary,
  target: BackTarget,
): Promise<BackOutcome> {
  const workload = parts.fleet.workload(target.workloadId)
  if (workload === null) return { kind: 'moved_on' }
  if (workload.hasStoppedOffers) return { kind: 'busy' }
  if (!isStillMeant(campaign, workload)) return { kind: 'left_scope' }
  if (!runsResult(workload, target)) {
    // What it is to run now may fail yet, and then leads back to what the campaign brought.
    const isUndecided = isActiveConfigOpen(workload) || (await willRunResult(parts, campaign, target))
    return isUndecided ? { kind: 'busy' } : { kind: 'moved_on', mayComeBack: true }
  }
  if (await isOfOthers(parts.db, campaign, target)) return { kind: 'moved_on' }
  if (hasOpenPush(workload, target.pushId)) return { kind: 'busy' }
  const { base, obstacle } = await findBase(parts, target)
  if (base === null)
    return { kind: 'no_way_back', reason: obstacle === 'base_not_approved' ? obstacle : null }
  const pushed = await parts.fleet.push<NotPushed>(
    {
      workloadId: workload.id,
      hash: base.hash,
      body: base.body,
      used: base.components,
      path: 'campaign-rollback',
      ownPushId: target.pushId,
      actor: closerOf(campaign),
      approvalId: null,
      rollbackTargetKind: 'hash',
      campaignId: campaign.id,
    },
    async (tx, { pushId }) => {
      if (!isStillMeant(campaign, workload)) return { ok: false, code: 'left-scope' }
      if (!runsResult(workload, target) || (await isOfOthers(tx, campaign, target)))
        return { ok: false, code: 'moved-on' }
      if ((await findNotReturning(parts, tx, closerOf(campaign), [{ workload, hash: base.hash }])) !== null)
        return { ok: false, code: 'approved-for-less' }
      const stands = await shareCampaign(tx, campaign.id)
      const back = { campaignId: campaign.id, workloadId: workload.id, pushId }
      const mark = target.isByItself ? markByItselfRollingBack : markTargetRollingBack
      if (stands?.status !== 'rolling_back' || !(await mark(tx, back)))
        return { ok: false, code: 'campaign-stopped' }
      await tx.record({
        action: 'campaign.roll_back',
        resource: 'workload',
        resourceId: workload.id,
        configHash: base.hash,
        detail: JSON.stringify({ campaign_id: campaign.id, push_id: pushId }),
      })
      return { ok: true }
    },
  )
  if (pushed.ok) return { kind: 'started', pushId: pushed.push.pushId }
  if (pushed.code === 'workload-not-connected') return { kind: 'offline' }
  if (pushed.code === 'obstructed') return { kind: 'busy' }
  if (pushed.code === 'left-scope') return { kind: 'left_scope' }
  if (pushed.code === 'approved-for-less') return { kind: 'no_way_back', reason: 'approved_for_less' }
  return { kind: pushed.code === 'moved-on' || pushed.code === 'workload-not-found' ? 'moved_on' : 'refused' }
}

/** The config that a target goes back to; null where it has none, or none that may be brought back. */
async function findBase({ db }: CampaignParts, { workloadId, baseHash, pushId }: BackTarget) {
  if (baseHash === null || pushId === null) return { base: null, obstacle: 'none' }
  const { hash, obstacle } = await findWayBack(db, { pushId, workloadId, hash: baseHash })
  return { base: obstacle === null ? await findContent(db, hash) : null, obstacle }
}

/** Whether the roll-back of a newer campaign has yet to give the workload back what this one brought. */
const willRunResult = async (
  { db }: CampaignParts,
  { id }: CampaignSummary,
  { workloadId, resultHash, pushId }: BackTarget,
): Promise<boolean> =>
  pushId !== null && resultHash !== null && isAboutToGet(db, id, { workloadId, hash: resultHash })

/** Whether somebody else has brought the same config again since: then it is not this campaign's to take back. */
const isOfOthers = async (
  db: Db,
  { id }: CampaignSummary,
  { workloadId, pushId }: BackTarget,
): Promise<boolean> => pushId !== null && wasBroughtAgain(db, id, { pushId, workloadId })

/** A workload that left the scopes which a campaign is cut to is not the campaign's any more. */
const isStillMeant = ({ scope }: CampaignSummary, workload: Workload): boolean =>
  scope.cut_to === undefined || isInOneOf(scope.cut_to, workload)

/**
 * Whether the config that the campaign brought is what the whole workload is to run, or what some instances run by a
 * rollout of the campaign that has not ended.
 */
export const runsResult = (
  { activeHash, rollout }: Workload,
  { resultHash, pushId }: Pick<BackTarget, 'resultHash' | 'pushId'>,
): boolean =>
  // One that was overtaken while it was away was never pushed to: what it runs came from elsewhere.
  pushId !== null && (activeHash === resultHash || rollout?.followed.push.pushId === pushId)
