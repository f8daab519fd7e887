import type { ActTransaction } from '../audit/database.ts'
import type { Workload } from '../fleet/state/model.ts'
import { followedPushes } from '../fleet/state/state.ts'
import { isProduction } from '../model/production.ts'
import { markTargetsStarted, type StoredCampaignTarget } from '../store/campaign-targets.ts'
import { type StoredCampaign, shareCampaign } from '../store/campaigns.ts'
import { DatabaseUnavailable } from '../store/db.ts'
import type { Push } from '../store/pushes.ts'
import type { StagePlan } from '../store/rollouts.ts'
import type { CampaignReason } from '../wire/campaigns.ts'
import { type CampaignJudge, JudgeBusy, type Judgement } from './judge.ts'
import type { CampaignParts } from './parts.ts'

/** What came of a target's turn. */
export type StartOutcome =
  | { kind: 'started'; pushId: string; wasDegraded: boolean }
  /** Nobody is there to take it. */
  | { kind: 'offline' }
  /** Something else is under way there, nobody had time to look, or what was looked at changed meanwhile. */
  | { kind: 'busy' }
  /** What was approved is not what would be done now. */
  | { kind: 'skipped'; reason: CampaignReason }
  /** The campaign does not start anything now, this target was started already, or nobody knows. */
  | { kind: 'refused' }

/** A target that is to be pushed to, as it was judged a moment ago. */
interface Ready {
  target: StoredCampaignTarget
  workload: Workload
  judgement: Judgement
  result: NonNullable<Judgement['result']>
  /** As the push was written. */
  wasDegraded: boolean
}

/** Targets with more instances go in stages of their own. */
const STAGED_ABOVE = 20
const STAGES: readonly StagePlan[] = [
  { percentage: 10, dwellMs: 30_000, gates: ['no_failure', 'health'] },
  { percentage: 100, dwellMs: 0, gates: ['no_failure'] },
]

type Refused = { ok: false; code: 'campaign-stopped' | 'changed-meanwhile' | 'stage-empty' }

/**
 * Start targets, if everything still is as it was approved: together in one transaction, and each alone where they
 * cannot be pushed to together. Throws `DatabaseUnavailable`.
 */
export async function startTargets(
  parts: CampaignParts,
  campaign: StoredCampaign,
  targets: readonly StoredCampaignTarget[],
  judge: CampaignJudge,
): Promise<Map<StoredCampaignTarget, StartOutcome>> {
  const outcomes = new Map<StoredCampaignTarget, StartOutcome>()
  const together: Ready[] = []
  const alone: Ready[] = []
  for (const target of targets) {
    const look = () => lookAt(parts, target, judge)
    const looked = (await unlessBroken(parts, campaign, target, look)) ?? BUSY
    if ('kind' in looked) outcomes.set(target, looked)
    else (looked.workload.live.count > STAGED_ABOVE ? alone : together).push(looked)
  }
  if (together.length > 0) {
    const pushed = await unlessBroken(parts, campaign, null, () => pushAll(parts, campaign, judge, together))
    if (pushed === null) alone.push(...together)
    else if (pushed.ok) {
      const pushIds = new Map(pushed.pushes.map(({ workloadId, pushId }) => [workloadId, pushId]))
      for (const { target, wasDegraded } of together)
        outcomes.set(target, { kind: 'started', pushId: pushIds.get(target.workloadId)!, wasDegraded })
    } else if (pushed.code === 'audit-unavailable' || pushed.code === 'campaign-stopped')
      for (const { target } of together) outcomes.set(target, { kind: 'refused' })
    else alone.push(...together)
  }
  for (const ready of alone)
    outcomes.set(
      ready.target,
      (await unlessBroken(parts, campaign, ready.target, () => pushOne(parts, campaign, judge, ready))) ??
        BUSY,
    )
  return outcomes
}

const BUSY: StartOutcome = { kind: 'busy' }

/** Do something to targets; null where it breaks of itself, and would break again: the others have their turn all the same. */
async function unlessBroken<T>(
  parts: CampaignParts,
  campaign: StoredCampaign,
  target: StoredCampaignTarget | null,
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error
    parts.log.warn(
      { err: error, campaign: campaign.id, ...(target === null ? {} : { workload: target.workloadId }) },
      'targets of a campaign could not be started',
    )
    return null
  }
}

/** What is known before anything is locked. */
async function lookAt(
  parts: CampaignParts,
  target: StoredCampaignTarget,
  judge: CampaignJudge,
): Promise<StartOutcome | Ready> {
  const workload = parts.fleet.workload(target.workloadId)
  if (workload === null) return { kind: 'skipped', reason: 'workload_gone' }
  if (isBusy(workload)) return { kind: 'busy' }
  let judgement: Judgement
  try {
    judgement = await judge.judge(workload)
  } catch (error) {
    if (error instanceof JudgeBusy) return { kind: 'busy' }
    throw error
  }
  const reason = refusalOf(judge, target, workload, judgement)
  if (reason !== null) return { kind: 'skipped', reason }
  return judgement.verdict === 'offline'
    ? { kind: 'offline' }
    : { target, workload, judgement, result: judgement.result!, wasDegraded: false }
}

/** A push or a rollout of somebody else has not ended yet. */
const isBusy = (workload: Workload): boolean => workload.isFrozen || hasOpenPush(workload)

const hasOpenPush = (workload: Workload): boolean =>
  followedPushes(workload).some(({ push }) => push.status === 'pending')

/** Whether it is under the fleet config that the campaign carries a version of, or under none where it carries none. */
function hasItsFleetConfig(
  { fleetConfigs }: CampaignParts,
  { change }: StoredCampaign,
  workload: Workload,
): boolean {
  const wanted = change.kind === 'version' ? change.fleet_config_id : null
  return fleetConfigs.membershipOf(workload).configId === wanted
}

/** Whether a workload that was judged before it was locked is another one now; then it is looked at again. */
function hasChanged(
  parts: CampaignParts,
  campaign: StoredCampaign,
  judge: CampaignJudge,
  { workload, target, judgement, result }: Ready,
): boolean {
  const { labels, trustedLabels, quarantinedHashes, quarantinedInstances } = workload
  const isQuarantined = quarantinedHashes.has(result.hash) || quarantinedInstances.has(result.hash)
  return (
    workload.activeHash !== judgement.baseHash ||
    hasOpenPush(workload) ||
    workload.archivedAt !== null ||
    !workload.acceptsRemoteConfig ||
    parts.reservationOf(workload) !== null ||
    judge.scopeOf(workload) !== 'selected' ||
    !hasItsFleetConfig(parts, campaign, workload) ||
    (isQuarantined && !campaign.rules.retryQuarantined) ||
    (!target.isProduction && isProduction({ targetEnv: '', targetGroup: '', labels, trustedLabels }))
  )
}

/** Why what would be done now is not what was approved; null when it is. */
function refusalOf(
  judge: CampaignJudge,
  target: StoredCampaignTarget,
  workload: Workload,
  now: Judgement,
): CampaignReason | null {
  if (judge.scopeOf(workload) !== 'selected') return 'not_selected'
  if (now.baseHash !== target.baseHash) return 'base_moved'
  if (now.isProduction && !target.isProduction) return 'became_production'
  if (now.verdict !== 'changes' && now.verdict !== 'offline') return now.reason ?? 'base_moved'
  return now.result!.hash === target.resultHash ? null : 'result_changed'
}

/** Revisions, targets, offers, assignments, the campaign's rows and the audit entries in one transaction. */
function pushAll(
  parts: CampaignParts,
  campaign: StoredCampaign,
  judge: CampaignJudge,
  all: readonly Ready[],
) {
  return parts.fleet.pushTogether<Refused>(
    'campaign.push',
    starterOf(campaign),
    all.map(requestOf),
    (tx, pushes) => noteStarted(parts, tx, campaign, judge, all, pushes),
  )
}

async function pushOne(
  parts: CampaignParts,
  campaign: StoredCampaign,
  judge: CampaignJudge,
  ready: Ready,
): Promise<StartOutcome> {
  const stages = ready.workload.live.count > STAGED_ABOVE ? STAGES : null
  const pushed = await parts.fleet.push<Refused>(
    { ...requestOf(ready), actor: starterOf(campaign), stages },
    (tx, push) => noteStarted(parts, tx, campaign, judge, [ready], [push]),
  )
  if (pushed.ok) return { kind: 'started', pushId: pushed.push.pushId, wasDegraded: ready.wasDegraded }
  switch (pushed.code) {
    case 'workload-not-found':
      return { kind: 'skipped', reason: 'workload_gone' }
    case 'changed-meanwhile':
      return BUSY
    case 'stage-empty':
      return { kind: 'skipped', reason: 'nobody_reports' }
    case 'workload-not-connected':
      return { kind: 'offline' }
    default:
      // Whether it was started where its record did not leave the house, the database says.
      return { kind: 'refused' }
  }
}

const requestOf = ({ workload, result, judgement }: Ready) => ({
  workloadId: workload.id,
  hash: result.hash,
  body: result.text,
  used: judgement.required,
  kind: 'approval' as const,
  approvalId: null,
  rollbackTargetKind: null,
})

/** Note in the transaction of the pushes that these targets are started, if the campaign still starts any. */
async function noteStarted(
  parts: CampaignParts,
  tx: ActTransaction,
  campaign: StoredCampaign,
  judge: CampaignJudge,
  all: readonly Ready[],
  pushes: readonly Push[],
): Promise<{ ok: true } | Refused> {
  // They were judged before the workloads were locked: what runs there may have changed meanwhile.
  if (all.some((ready) => hasChanged(parts, campaign, judge, ready)))
    return { ok: false, code: 'changed-meanwhile' }
  const stands = await shareCampaign(tx, campaign.id)
  const isCatchingUp = stands?.status === 'done' && all.every(({ target }) => target.state === 'offline')
  if (stands?.status !== 'running' && !isCatchingUp) return { ok: false, code: 'campaign-stopped' }
  const pushOf = new Map(pushes.map((push) => [push.workloadId, push]))
  const started = all.map((ready) => {
    const { id, status } = ready.workload
    ready.wasDegraded = status === 'degraded'
    return { workloadId: id, pushId: pushOf.get(id)!.pushId, wasDegraded: ready.wasDegraded }
  })
  if (!(await markTargetsStarted(tx, campaign.id, started, parts.clock.now())))
    return { ok: false, code: 'campaign-stopped' }
  for (const { workloadId, pushId, hash } of pushes)
    await tx.record({
      ...{ action: 'campaign.push', resource: 'workload', resourceId: workloadId },
      ...{ configHash: hash, detail: JSON.stringify({ campaign_id: campaign.id, push_id: pushId }) },
    })
  return { ok: true }
}

/** Whoever started the campaign pushes what it carries. */
const starterOf = ({ startedBy, startedById, createdBy }: StoredCampaign) => ({
  userId: startedById ?? '',
  email: startedBy ?? createdBy,
})
