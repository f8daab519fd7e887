import type { ActTransaction } from '../../audit/database.ts'
import type { AuditActor } from '../../audit/event.ts'
import type { PushObstacle } from '../../fleet/decide/push-obstacle.ts'
import { hasOpenPush } from '../../fleet/pushes/find-obstacle.ts'
import type { Workload } from '../../fleet/state/model.ts'
import { countDrifted } from '../../fleet/views/drifted.ts'
import { sortedJson } from '../../model/sorted-json.ts'
import type { StoredCampaignTarget } from '../../store/campaign-targets.ts'
import { DatabaseUnavailable } from '../../store/db.ts'
import type { Push } from '../../store/pushes.ts'
import { listKeptProduction } from '../../store/reviews.ts'
import type { StagePlan } from '../../store/rollouts.ts'
import { listHandLabels } from '../../store/workloads.ts'
import type { CampaignReason } from '../../wire/campaigns.ts'
import { type CampaignJudge, JudgeBusy, type Judgement } from '../judge/judge.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { sizeOf } from './size.ts'
import { whyNotApproved } from './why-not-approved.ts'

/** What came of a target's turn. */
export type StartOutcome =
  | { kind: 'started'; pushId: string; wasDegraded: boolean; wasDrifted: boolean }
  /** No instance that could take the config is connected. */
  | { kind: 'offline' }
  /**
   * Another push is under way, the config workers were busy, the workload changed while it was judged, or an unexpected
   * error came up: the target is tried again. `isUnsure` where it may have been started all the same: the run is to be
   * read again. `gaveUp` where the workers took too long over its text, and would most likely do so again.
   */
  | { kind: 'busy'; isUnsure?: true; gaveUp?: true }
  /** What was approved is not what would be done now. */
  | { kind: 'skipped'; reason: CampaignReason; detail?: string }
  /** The starter starts nothing now, the target was started already, or the outcome of the commit is not known. */
  | { kind: 'refused' }

/** A workload whose turn has come, as it was approved, and as large as it is known to be (`withSizes`). */
export type StartTarget = Pick<
  StoredCampaignTarget,
  'workloadId' | 'baseHash' | 'resultHash' | 'isProduction' | 'state' | 'instanceCount'
>

/** A target that is being started, with its push. */
export interface StartedPush<Target> {
  target: Target
  push: Push
  /** Whether the workload was degraded when the push was written. */
  wasDegraded: boolean
  /** Whether an instance of it drifted then. */
  wasDrifted: boolean
}

/** Who starts targets: a campaign, or a fleet config that applies a version by itself. */
export interface Starter<Target extends StartTarget> {
  id: string
  path: 'campaign' | 'auto-apply'
  /** The name of the transaction that pushes to several targets together. */
  transaction: string
  /** The user in whose name pushes are made. */
  actor: AuditActor
  /** The fleet config that the targets must be under; null where they must be under none. */
  fleetConfigId: string | null
  retriesQuarantined: boolean
  /**
   * Note in the transaction of the pushes that these targets are started, with their audit records; refused where the
   * starter may not start them any more.
   */
  note(
    tx: ActTransaction,
    started: readonly StartedPush<Target>[],
  ): Promise<{ ok: true } | { ok: false; code: 'starter-stopped' | 'changed-meanwhile' }>
}

const BUSY: StartOutcome = { kind: 'busy' }
const GIVEN_UP: StartOutcome = { kind: 'busy', gaveUp: true }
/** An error came up that may have come after the commit. */
const UNSURE: StartOutcome = { kind: 'busy', isUnsure: true }

/** A target that is to be pushed to, as it was judged a moment ago. */
interface Ready<Target extends StartTarget> {
  target: Target
  workload: Workload
  judgement: Judgement
  result: NonNullable<Judgement['result']>
  /** Whether the workload was degraded, and drifted, when the push was written; false until then. */
  wasDegraded: boolean
  wasDrifted: boolean
}

/** `stagedAbove` of a service. */
export const STAGED_ABOVE = 20
const STAGES: readonly StagePlan[] = [
  { percentage: 10, dwellMs: 30_000, gates: ['no_failure', 'health'] },
  { percentage: 100, dwellMs: 0, gates: ['no_failure'] },
]

/** Whether a workload goes in stages; `more` are instances that are on their way to it. */
const isLarge = (
  { stagedAbove }: Pick<CampaignParts, 'stagedAbove'>,
  { target, workload }: Pick<Ready<StartTarget>, 'target' | 'workload'>,
  more = 0,
): boolean => sizeOf(workload, target) + more > stagedAbove

type Refused = { ok: false; code: 'starter-stopped' | 'changed-meanwhile' }

/**
 * Start targets that still are as they were approved: together in one transaction, or each in its own where it goes in
 * stages, or where the common transaction was refused or failed. Throws `DatabaseUnavailable`.
 */
export async function startTargets<Target extends StartTarget>(
  parts: CampaignParts,
  starter: Starter<Target>,
  targets: readonly Target[],
  judge: CampaignJudge,
): Promise<Map<Target, StartOutcome>> {
  const outcomes = new Map<Target, StartOutcome>()
  const together: Ready<Target>[] = []
  const alone: Ready<Target>[] = []
  const kept = await listKeptProduction(
    parts.db,
    targets.map(({ workloadId }) => workloadId),
  )
  const awaited = await parts.fleet.countAwaited(
    targets.flatMap(({ workloadId }) => parts.fleet.workload(workloadId) ?? []),
  )
  for (const target of targets) {
    const about = { target, kept, awaited: awaited.get(target.workloadId) ?? 0 }
    const look = () => lookAt(parts, starter, about, judge)
    const looked = (await unlessBroken(parts, starter, target, look)) ?? BUSY
    if ('kind' in looked) outcomes.set(target, looked)
    else (isLarge(parts, looked) ? alone : together).push(looked)
  }
  if (together.length > 0) {
    const pushed = await unlessBroken(parts, starter, null, () => pushAll(parts, starter, judge, together))
    if (pushed === null) alone.push(...together)
    else if (pushed.ok) {
      const pushIds = new Map(pushed.pushes.map(({ workloadId, pushId }) => [workloadId, pushId]))
      for (const { target, wasDegraded, wasDrifted } of together) {
        const pushId = pushIds.get(target.workloadId)!
        outcomes.set(target, { kind: 'started', pushId, wasDegraded, wasDrifted })
      }
    } else if (pushed.code === 'audit-unavailable' || pushed.code === 'starter-stopped')
      for (const { target } of together) outcomes.set(target, { kind: 'refused' })
    else alone.push(...together)
  }
  for (const ready of alone)
    outcomes.set(
      ready.target,
      (await unlessBroken(parts, starter, ready.target, () => pushOne(parts, starter, judge, ready))) ??
        UNSURE,
    )
  return outcomes
}

/**
 * Do something for targets, or log why it failed and answer null: an error that would come back must not keep other
 * targets from their turn. Throws `DatabaseUnavailable`.
 */
async function unlessBroken<T>(
  parts: CampaignParts,
  { id, path }: Pick<Starter<never>, 'id' | 'path'>,
  target: StartTarget | null,
  work: () => Promise<T>,
): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error
    parts.log.warn(
      {
        err: error,
        [path === 'campaign' ? 'campaign_id' : 'auto_apply_id']: id,
        ...(target === null ? {} : { workload_id: target.workloadId }),
      },
      path === 'campaign'
        ? 'targets of a campaign could not be started'
        : 'newcomers of a version that applies by itself could not be started',
    )
    return null
  }
}

/** Judge a target before its workload is locked: it is ready to be pushed to, or this is what its turn came to. */
async function lookAt<Target extends StartTarget>(
  parts: CampaignParts,
  starter: Starter<Target>,
  { target, kept, awaited }: { target: Target; kept: ReadonlySet<string>; awaited: number },
  judge: CampaignJudge,
): Promise<StartOutcome | Ready<Target>> {
  const workload = parts.fleet.workload(target.workloadId)
  if (workload === null) return { kind: 'skipped', reason: 'workload_gone' }
  if (isBusy(workload)) return BUSY
  // The first stage is a share of all that it has.
  if (awaited > 0 && isLarge(parts, { target, workload }, awaited)) return BUSY
  const moved = whySkipped(parts, starter, judge, { target, workload, kept })
  if (moved !== null) return { kind: 'skipped', reason: moved }
  let judgement: Judgement
  try {
    judgement = await judge.judge(workload)
  } catch (error) {
    if (error instanceof JudgeBusy) return error.gaveUp ? GIVEN_UP : BUSY
    throw error
  }
  const reason = refusalOf(target, judgement)
  if (reason !== null) {
    const { detail } = judgement
    return { kind: 'skipped', reason, ...(detail === undefined ? {} : { detail }) }
  }
  return judgement.verdict === 'offline'
    ? { kind: 'offline' }
    : { target, workload, judgement, result: judgement.result!, wasDegraded: false, wasDrifted: false }
}

/** Whether the assignment of a workload is being changed, or a push to it has not ended. */
const isBusy = (workload: Workload): boolean => workload.hasStoppedOffers || hasOpenPush(workload)

/** Why the turn of a target brings nothing, by what its workload is now; null when it may bring the change. */
function whySkipped(
  parts: Pick<CampaignParts, 'fleetConfigs'>,
  { fleetConfigId }: Pick<Starter<never>, 'fleetConfigId'>,
  judge: CampaignJudge,
  { target, workload, kept }: { target: StartTarget; workload: Workload; kept: ReadonlySet<string> },
): CampaignReason | null {
  const approved = { scopeOf: (one: Workload) => judge.scopeOf(one), fleetConfigId }
  const moved = whyNotApproved(parts, approved, target, workload, kept)
  return moved === null && !workload.acceptsRemoteConfig ? 'read_only' : moved
}

/** Why what would be done now is not what was approved; null when it is. */
function refusalOf(target: StartTarget, { verdict, reason, result }: Judgement): CampaignReason | null {
  if (verdict !== 'changes' && verdict !== 'offline') return reason ?? 'base_moved'
  return result!.hash === target.resultHash ? null : 'result_changed'
}

/** What a target's turn comes to where this keeps its push from beginning. */
const OBSTRUCTED: Readonly<Record<PushObstacle, StartOutcome>> = {
  archived: { kind: 'skipped', reason: 'archived' },
  frozen: { kind: 'skipped', reason: 'frozen' },
  held: { kind: 'skipped', reason: 'held' },
  'kept-in-git': { kind: 'skipped', reason: 'kept_in_git' },
  busy: BUSY,
  quarantined: { kind: 'skipped', reason: 'quarantined' },
}

/**
 * Push to several targets: revisions, offers, assignments, the starter's rows and the audit records in one transaction.
 */
function pushAll<Target extends StartTarget>(
  parts: CampaignParts,
  starter: Starter<Target>,
  judge: CampaignJudge,
  all: readonly Ready<Target>[],
) {
  return parts.fleet.pushTogether<Refused>(
    starter.transaction,
    starter.actor,
    all.map((ready) => requestOf(starter, ready)),
    (tx, pushes) => noteStarted(parts, tx, starter, judge, all, pushes),
  )
}

async function pushOne<Target extends StartTarget>(
  parts: CampaignParts,
  starter: Starter<Target>,
  judge: CampaignJudge,
  ready: Ready<Target>,
): Promise<StartOutcome> {
  const stages = isLarge(parts, ready) ? STAGES : null
  const pushed = await parts.fleet.push<Refused>(
    { ...requestOf(starter, ready), actor: starter.actor, stages },
    (tx, push) => noteStarted(parts, tx, starter, judge, [ready], [push]),
  )
  const { wasDegraded, wasDrifted } = ready
  if (pushed.ok) return { kind: 'started', pushId: pushed.push.pushId, wasDegraded, wasDrifted }
  switch (pushed.code) {
    case 'workload-not-found':
      return { kind: 'skipped', reason: 'workload_gone' }
    case 'changed-meanwhile':
      return BUSY
    case 'obstructed':
      return OBSTRUCTED[pushed.obstacle]
    case 'stage-empty':
      return { kind: 'skipped', reason: 'nobody_reports' }
    case 'workload-not-connected':
      return { kind: 'offline' }
    default:
      // After `audit-unavailable` only the database tells whether the target was started.
      return { kind: 'refused' }
  }
}

const requestOf = (
  { id, path, retriesQuarantined }: Pick<Starter<never>, 'id' | 'path' | 'retriesQuarantined'>,
  { workload, result, judgement }: Ready<StartTarget>,
) => ({
  workloadId: workload.id,
  hash: result.hash,
  body: result.text,
  used: judgement.required,
  path,
  retriesQuarantined,
  approvalId: null,
  rollbackTargetKind: null,
  ...(path === 'campaign' ? { campaignId: id } : { autoApplyId: id }),
})

/**
 * Note in the transaction of the pushes that these targets are started, unless one of them is not what was approved any
 * more, or the starter refuses.
 */
async function noteStarted<Target extends StartTarget>(
  parts: CampaignParts,
  tx: ActTransaction,
  starter: Starter<Target>,
  judge: CampaignJudge,
  all: readonly Ready<Target>[],
  pushes: readonly Push[],
): Promise<{ ok: true } | Refused> {
  // They were judged before the workloads were locked: what runs there, or their labels, may have changed meanwhile.
  const ids = all.map(({ workload }) => workload.id)
  const kept = await listKeptProduction(tx, ids)
  const stored = await listHandLabels(tx, ids)
  const hasMoved = ({ target, workload }: Ready<Target>) =>
    whySkipped(parts, starter, judge, { target, workload, kept }) !== null ||
    // The answer of a commit that changed them was lost: memory learns of it later.
    sortedJson(stored.get(workload.id) ?? null) !== sortedJson(workload.handLabels)
  if (all.some(hasMoved)) return { ok: false, code: 'changed-meanwhile' }
  const pushOf = new Map(pushes.map((push) => [push.workloadId, push]))
  const started = all.map((ready) => {
    const { id, status } = ready.workload
    ready.wasDegraded = status === 'degraded'
    ready.wasDrifted = countDrifted(parts.fleet, ready.workload) > 0
    const { target, wasDegraded, wasDrifted } = ready
    return { target, push: pushOf.get(id)!, wasDegraded, wasDrifted }
  })
  return starter.note(tx, started)
}
