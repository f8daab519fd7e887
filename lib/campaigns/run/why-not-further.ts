import type { StageHold, Workload } from '../../fleet/state/model.ts'
import { shareAutoApply } from '../../store/auto-apply.ts'
import { findPushedAutoApplyTarget } from '../../store/auto-apply-targets.ts'
import { findPushedTarget } from '../../store/campaign-targets.ts'
import { findCampaignSummary, shareCampaign } from '../../store/campaigns.ts'
import type { Db } from '../../store/db.ts'
import { listScopesRolledBack } from '../../store/fleet-config-history.ts'
import type { Push } from '../../store/pushes.ts'
import { listKeptProduction } from '../../store/reviews.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { isInOneOf, openScope, reachOfCampaign } from '../judge/scope.ts'
import { findLapse } from './lapse.ts'
import { type ApprovedSet, type ApprovedTarget, whyNotApproved } from './why-not-approved.ts'

type Parts = Pick<CampaignParts, 'fleetConfigs' | 'config' | 'mayApprove'>

/**
 * What keeps the push of a campaign, or of a version that applies by itself, from reaching more instances of its
 * workload: its starter is stopped, or the workload is not what was approved any more. Null when it may go on; that the
 * starter is not stopped stays so until the transaction ends.
 */
export async function whyNotFurther(
  parts: Parts,
  tx: Db,
  workload: Workload,
  push: Push,
): Promise<StageHold | null> {
  const approved =
    push.campaignId === null
      ? await readAutoApplied(parts, tx, workload, push)
      : await readCarried(parts, tx, push)
  if (approved === null) return { reason: 'stopped', about: '' }
  if (approved.isLapsed) return { reason: 'not_approved', about: '' }
  const kept = await listKeptProduction(tx, [workload.id])
  const moved = whyNotApproved(parts, approved.set, approved.target, workload, kept)
  return moved === null ? null : { reason: moved, about: '' }
}

interface Approved {
  set: ApprovedSet
  target: ApprovedTarget
  /** The approval does not hold any more. */
  isLapsed: boolean
}

/** What was approved with the campaign of a push; null where that does not carry it on. */
async function readCarried(parts: Parts, tx: Db, push: Push): Promise<Approved | null> {
  const id = push.campaignId!
  const status = (await shareCampaign(tx, id))?.status
  if (status !== 'running' && status !== 'done') return null
  const campaign = await findCampaignSummary(tx, id)
  const target = await findPushedTarget(tx, id, push)
  if (campaign === null || target === null) return null
  const { change, scope } = campaign
  const fleetConfigId = change.kind === 'version' ? change.fleet_config_id : null
  const isLapsed = (await findLapse(parts, { ...campaign, reach: reachOfCampaign(campaign) })) !== null
  return { set: { scopeOf: openScope(parts, scope, fleetConfigId), fleetConfigId }, target, isLapsed }
}

/**
 * What was approved with the version that applies by itself; null where it does not do so any more, be it that a campaign
 * took it back within scopes of which the workload lies in one.
 */
async function readAutoApplied(
  parts: Parts,
  tx: Db,
  workload: Workload,
  push: Push,
): Promise<Approved | null> {
  const id = push.autoApplyId!
  if ((await shareAutoApply(tx, id)) !== 'active') return null
  const target = await findPushedAutoApplyTarget(tx, id, push)
  if (target === null) return null
  const { fleetConfigId, number } = target
  if (isInOneOf(await listScopesRolledBack(tx, fleetConfigId, number), workload)) return null
  // While it is in force, it is stopped where its approval does not hold any more.
  return { set: { scopeOf: openScope(parts, {}, fleetConfigId), fleetConfigId }, target, isLapsed: false }
}
