import type { Workload } from '../fleet/state/model.ts'
import { followedPushes } from '../fleet/state/state.ts'
import { markTargetStarted, type StoredCampaignTarget } from '../store/campaign-targets.ts'
import { type StoredCampaign, shareCampaign } from '../store/campaigns.ts'
import type { StagePlan } from '../store/rollouts.ts'
import type { CampaignReason } from '../wire/campaigns.ts'
import type { CampaignJudge, Judgement } from './judge.ts'
import type { CampaignParts } from './parts.ts'
import { isInScope } from './scope.ts'

/** What came of a target's turn. */
export type StartOutcome =
  | { kind: 'started'; pushId: string }
  /** Nobody is there to take it. */
  | { kind: 'offline' }
  /** Something else is under way there. */
  | { kind: 'busy' }
  /** What was approved is not what would be done now. */
  | { kind: 'skipped'; reason: CampaignReason }
  /** The campaign itself does not start anything now, or this target was started already. */
  | { kind: 'refused' }

/** Targets with more instances go in stages of their own. */
const STAGED_ABOVE = 20
const STAGES: readonly StagePlan[] = [
  { percentage: 10, dwellMs: 30_000, gates: ['no_failure', 'health'] },
  { percentage: 100, dwellMs: 0, gates: ['no_failure'] },
]

/** Start one target, if everything still is as it was approved. Throws `JudgeBusy` and `DatabaseUnavailable`. */
export async function startTarget(
  parts: CampaignParts,
  campaign: StoredCampaign,
  target: StoredCampaignTarget,
  judge: CampaignJudge,
): Promise<StartOutcome> {
  const workload = parts.fleet.workload(target.workloadId)
  if (workload === null) return { kind: 'skipped', reason: 'workload_gone' }
  if (isBusy(workload)) return { kind: 'busy' }
  const judgement = await judge.judge(workload)
  const refusal = refusalOf(campaign, target, workload, judgement)
  if (refusal !== null) return { kind: 'skipped', reason: refusal }
  if (judgement.verdict === 'offline') return { kind: 'offline' }
  return push(parts, campaign, target, workload, judgement)
}

/** A push or a rollout of somebody else has not ended yet. */
const isBusy = (workload: Workload): boolean =>
  workload.isFrozen || followedPushes(workload).some(({ push }) => push.status === 'pending')

/** Why what would be done now is not what was approved; null when it is. */
function refusalOf(
  campaign: StoredCampaign,
  target: StoredCampaignTarget,
  workload: Workload,
  now: Judgement,
): CampaignReason | null {
  if (isInScope(workload, campaign.scope) !== 'selected') return 'not_selected'
  if (now.baseHash !== target.baseHash) return 'base_moved'
  if (now.isProduction && !target.isProduction) return 'became_production'
  if (now.verdict !== 'changes' && now.verdict !== 'offline') return now.reason ?? 'base_moved'
  return now.result!.hash === target.resultHash ? null : 'result_changed'
}

/** Revision, targets, offers, assignment, the campaign's row and the audit entry in one transaction; then the frames. */
async function push(
  parts: CampaignParts,
  campaign: StoredCampaign,
  target: StoredCampaignTarget,
  workload: Workload,
  { result, required, baseHash }: Judgement,
): Promise<StartOutcome> {
  const { hash, text } = result!
  const pushed = await parts.fleet.push<{ ok: false; code: 'campaign-stopped' | 'base-moved' }>(
    {
      ...{ workloadId: workload.id, hash, body: text, used: required, kind: 'approval' },
      ...{ actor: starterOf(campaign), approvalId: null, rollbackTargetKind: null },
      stages: workload.live.count > STAGED_ABOVE ? STAGES : null,
    },
    async (tx, { pushId, submittedAt }) => {
      // It was judged before the workload was locked: what runs there may have changed meanwhile.
      if (workload.activeHash !== baseHash) return { ok: false, code: 'base-moved' }
      const stands = await shareCampaign(tx, campaign.id)
      const isCatchingUp = target.state === 'offline' && stands?.status === 'done'
      if (stands?.status !== 'running' && !isCatchingUp) return { ok: false, code: 'campaign-stopped' }
      const isFirst = await markTargetStarted(tx, {
        ...{ campaignId: campaign.id, workloadId: workload.id, pushId, now: submittedAt },
        wasDegraded: workload.status === 'degraded',
      })
      if (!isFirst) return { ok: false, code: 'campaign-stopped' }
      await tx.record({
        ...{ action: 'campaign.push', resource: 'workload', resourceId: workload.id },
        ...{ configHash: hash, detail: JSON.stringify({ campaign_id: campaign.id, push_id: pushId }) },
      })
      return { ok: true }
    },
  )
  if (pushed.ok) return { kind: 'started', pushId: pushed.push.pushId }
  switch (pushed.code) {
    case 'workload-not-found':
      return { kind: 'skipped', reason: 'workload_gone' }
    case 'base-moved':
      return { kind: 'skipped', reason: 'base_moved' }
    case 'workload-not-connected':
      return { kind: 'offline' }
    default:
      // Whether it was started, where the record went and not out of the house, the database says.
      return { kind: 'refused' }
  }
}

/** Whoever started the campaign pushes what it carries. */
const starterOf = ({ startedBy, startedById, createdBy }: StoredCampaign) => ({
  userId: startedById ?? '',
  email: startedBy ?? createdBy,
})
