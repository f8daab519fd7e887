import type { ActTransaction } from '../../audit/database.ts'
import type { FleetClock } from '../../clock.ts'
import { randomHex, uuidv7 } from '../../ids.ts'
import type { UsedComponent } from '../../model/components.ts'
import type { Db } from '../../store/db.ts'
import { insertTargets, insertTargetsOfPushes } from '../../store/push-targets.ts'
import { closePushes, insertPushes, lockPushes, updatePushProgress } from '../../store/push-writes.ts'
import type { Push, ToldFailure } from '../../store/pushes.ts'
import { insertLifted } from '../../store/quarantines.ts'
import {
  assignRollout,
  insertRollout,
  insertRolloutMembers,
  type StagePlan,
  type StoredRollout,
  stopRollouts,
} from '../../store/rollouts.ts'
import { assignPushes, type StoredWorkload } from '../../store/workloads.ts'
import { inTurns } from '../../turns.ts'
import type { PushPath } from '../decide/push-obstacle.ts'
import { stageSize } from '../decide/rollout.ts'
import type { FleetDeps } from '../state/deps.ts'
import { type GatheredTargets, putTarget } from '../state/followed-push.ts'
import type { Instance, Workload } from '../state/model.ts'
import { compareInstances, followedPushes } from '../state/state.ts'
import { retireOvertakenRequests } from './overtaken-requests.ts'
import { type PushPlan, planPush } from './push-plan.ts'

/** Thrown inside a push's transaction to take everything back with a code. */
export class Veto extends Error {
  readonly code: 'workload-not-found' | 'stage-empty'

  constructor(code: Veto['code']) {
    super(code)
    this.code = code
  }
}

/** What the rows of a push are made of. */
export interface PushContent {
  hash: string
  used: readonly UsedComponent[]
  /** The way by which it began; nothing stands in its way. */
  path: PushPath
  pushedBy: string
  /** Null for the service itself. */
  pushedById: string | null
  approvalId: string | null
  rollbackTargetKind: string | null
  /** The campaign that makes it, or the version that applies by itself; absent for neither. */
  campaignId?: string
  autoApplyId?: string
  rollbackOfPushId: string | null
  failedHash: string | null
  failedError: ToldFailure | null
  /** Only these instances are targets; null for all. */
  scope: ReadonlySet<string> | null
  /** Null for a push to everyone at once. */
  stages: readonly StagePlan[] | null
}

/** A push whose rows were inserted by the running transaction. */
export interface NewPush {
  push: Push
  plan: PushPlan
  /** The instances that it takes back; null for a push to everyone or in stages. */
  scope: ReadonlySet<string> | null
  /** The instances whose quarantines it lifted; null for a push that lifts none. */
  lifted: readonly string[] | null
  rollout: { stored: StoredRollout; members: ReadonlyMap<string, number> } | null
  /** Its targets as they are followed once it is committed. */
  followed: GatheredTargets
}

/** Gather a push's targets before its commit, as many take long: memory must follow the commit without an await. */
async function gatherTargets(plan: PushPlan, clock: FleetClock): Promise<GatheredTargets> {
  const gathered: GatheredTargets = { targets: new Map(), awaiting: new Map(), appliedMs: new WeakMap() }
  for await (const some of inTurns(plan.targets, PLAN_CHUNK))
    for (const { target } of some) putTarget(gathered, target, clock)
  return gathered
}

/**
 * The instances of the first stage: those that a canary names, else the first by pod, connection time and uid. All of
 * them can take the config and report. Null when everyone is in the first stage.
 */
function chooseFirstStage(plan: PushPlan, stages: readonly StagePlan[]): Set<string> | null {
  // A single stage is everyone from the start.
  if (stages.length < 2) return null
  const eligible = plan.targets.filter(({ target }) => target.isTarget).map(({ instance }) => instance)
  const named = stages[0]!.canary?.instanceUids
  const chosen =
    named === undefined
      ? eligible.sort(compareInstances).slice(0, stageSize(stages[0]!, eligible.length))
      : eligible.filter(({ uid }) => named.includes(uid))
  return new Set(chosen.map((instance) => instance.uid))
}

function countStates(plan: PushPlan): Push['counts'] {
  const targets = plan.targets.filter(({ target }) => target.isTarget)
  return {
    target: targets.length,
    applying: 0,
    applied: targets.filter(({ target }) => target.state === 'applied').length,
    failed: 0,
    straggler: 0,
    gone: 0,
    joined: 0,
  }
}

/** Instances planned for in one turn of the event loop. */
const PLAN_CHUNK = 10_000

/** The plan over all live instances. One that leaves while it is made ends later, like any target that leaves. */
async function planEveryone(
  deps: FleetDeps,
  row: StoredWorkload,
  live: readonly Instance[],
  { hash, used }: PushContent,
  lifted: readonly string[] | null,
): Promise<PushPlan> {
  const push = { hash, generation: row.generation + 1, now: deps.clock.now() }
  const liftedUids = lifted === null ? null : new Set(lifted)
  const targets: PushPlan['targets'][number][] = []
  const excluded: Record<string, number> = {}
  for await (const some of inTurns(live, PLAN_CHUNK)) {
    const plan = planPush(some, push, used, liftedUids, deps.isCompatible)
    for (const target of plan.targets) targets.push(target)
    for (const [reason, count] of Object.entries(plan.excluded))
      excluded[reason] = (excluded[reason] ?? 0) + count
  }
  return { targets, excluded }
}

/** The plan of a push, and the instances that it is restricted to: its scope or first stage; null for everyone. */
async function planContent(
  deps: FleetDeps,
  row: StoredWorkload,
  live: readonly Instance[],
  content: PushContent,
  lifted: readonly string[] | null,
): Promise<{ plan: PushPlan; scope: ReadonlySet<string> | null }> {
  const everyone = await planEveryone(deps, row, live, content, lifted)
  const scope = content.stages === null ? content.scope : chooseFirstStage(everyone, content.stages)
  const plan =
    scope === null
      ? everyone
      : { ...everyone, targets: everyone.targets.filter(({ instance }) => scope.has(instance.uid)) }
  if (content.stages !== null && !plan.targets.some(({ target }) => target.isTarget))
    throw new Veto('stage-empty')
  return { plan, scope }
}

/** The kind that the history shows for a push of this path. */
export function kindOf(path: PushPath): Push['kind'] {
  if (path === 'auto-rollback') return path
  return path === 'rollback' || path === 'campaign-rollback' || path === 'rollout-rollback'
    ? 'rollback'
    : 'approval'
}

/** A new push, the next in the history of its workload. */
function newPush(deps: FleetDeps, { workload, row, content }: PushDraft, plan: PushPlan): Push {
  const { live } = workload
  const now = deps.clock.now()
  return {
    pushId: uuidv7(now, deps.random),
    workloadId: row.id,
    seq: row.pushSeq + 1,
    hash: content.hash,
    kind: kindOf(content.path),
    pushedBy: content.pushedBy,
    generation: row.generation + 1,
    status: 'pending',
    phase: 'submitted',
    submittedAt: now,
    sentAt: null,
    appliedAt: null,
    failedAt: null,
    updatedAt: now,
    error: null,
    approvalId: content.approvalId,
    rollbackOfPushId: content.rollbackOfPushId,
    failedHash: content.failedHash,
    failedError: content.failedError,
    rollbackTargetKind: content.rollbackTargetKind,
    campaignId: content.campaignId ?? null,
    autoApplyId: content.autoApplyId ?? null,
    unhealthyCount: 0,
    unhealthyOf: 0,
    unhealthyAt: null,
    startedWell: live.unhealthy.size === 0 && !live.isHealthAwaited(deps.clock.heardMs()),
    excluded: plan.excluded,
    counts: countStates(plan),
  }
}

/** A push that is to be written. */
export interface PushDraft {
  workload: Workload
  /** The workload's row, locked by this transaction. */
  row: StoredWorkload
  live: readonly Instance[]
  content: PushContent
  /** The instances whose quarantines it has lifted; null for a push that lifts none. */
  lifted: readonly string[] | null
}

/** A push that is to be written, with who gets it. */
interface PlannedPush extends PushDraft {
  push: Push
  plan: PushPlan
  scope: ReadonlySet<string> | null
  /** Only a push for everyone supersedes the active push; one in stages, or that takes members back, leaves it. */
  isForEveryone: boolean
}

async function planDraft(deps: FleetDeps, draft: PushDraft): Promise<PlannedPush> {
  const { row, live, content, lifted } = draft
  const { plan, scope } = await planContent(deps, row, live, content, lifted)
  const isForEveryone = content.stages === null && scope === null
  return { ...draft, plan, scope, isForEveryone, push: newPush(deps, draft, plan) }
}

/**
 * Lock the pushes that workloads are assigned, by memory and by their rows: one push locks those of its workload, and
 * pushes that begin together those of all. The workloads' rows must be locked by this transaction.
 */
export async function lockAssigned(
  tx: Db,
  each: readonly { workload: Workload; row: StoredWorkload }[],
): Promise<void> {
  const pushIds = each.flatMap(({ workload, row }) => [
    ...followedPushes(workload).map(({ push }) => push.pushId),
    row.activePushId,
    row.rolloutPushId,
  ])
  const assigned = new Set(pushIds.filter((pushId) => pushId !== null))
  if (assigned.size > 0) await lockPushes(tx, [...assigned])
}

/**
 * Insert pushes with their targets and make them the assignments of their workloads, each of another one; one in stages
 * that of the first stage's members, one with a scope that of the members that it takes back. Approved requests that they
 * overtake are retired. Throws the Veto
 * `stage-empty` where a first stage has no target. The workloads' rows and the pushes that they are assigned must be
 * locked by this transaction. It takes as many statements for many pushes as for one.
 */
export async function insertPushRows(
  tx: ActTransaction,
  deps: FleetDeps,
  drafts: readonly PushDraft[],
): Promise<NewPush[]> {
  const planned: PlannedPush[] = []
  for (const draft of drafts) planned.push(await planDraft(deps, draft))
  const decided = planned.map(({ push, content: { path, pushedById: byId } }) => ({ push, path, byId }))
  await retireOvertakenRequests(tx, deps, decided)
  await closeFormers(tx, planned, deps.clock.now())
  await insertPushes(
    tx,
    planned.map(({ push }) => push),
  )
  await insertLifted(
    tx,
    planned.map(({ push: { pushId }, lifted }) => ({ pushId, uids: lifted ?? [] })),
  )
  await insertAllTargets(tx, planned)
  const made: NewPush[] = []
  for (const { push, plan, scope, lifted, content } of planned) {
    const rollout = content.stages === null ? null : await insertStages(tx, deps, push, plan, content.stages)
    const followed = await gatherTargets(plan, deps.clock)
    made.push({ push, plan, scope: rollout === null ? scope : null, lifted, rollout, followed })
  }
  const assignments = planned.map(({ isForEveryone, push }) => {
    const { workloadId, hash, pushId, generation, seq } = push
    return { isForEveryone, assigned: { workloadId, hash, pushId, generation, seq } }
  })
  await assignPushes(
    tx,
    assignments.flatMap(({ isForEveryone, assigned }) => (isForEveryone ? assigned : [])),
  )
  for (const { isForEveryone, assigned } of assignments)
    if (!isForEveryone) await assignRollout(tx, assigned.workloadId, assigned)
  return made
}

/** Close the pushes and rollouts whose place these pushes take. */
async function closeFormers(tx: Db, planned: readonly PlannedPush[], now: Date): Promise<void> {
  // A push that was applied a moment ago is stored as such before it is closed: a later rollback may go back to it.
  const followed = planned.flatMap(({ workload }) => followedPushes(workload).map(({ push }) => push))
  const former = planned
    .flatMap(({ row, isForEveryone }) => [row.rolloutPushId, isForEveryone ? row.activePushId : null])
    .filter((pushId) => pushId !== null)
  if (followed.length > 0) await updatePushProgress(tx, followed)
  await closePushes(tx, former, now)
  await stopRollouts(
    tx,
    planned.map(({ row }) => row.id),
    now,
  )
}

async function insertAllTargets(tx: Db, planned: readonly PlannedPush[]): Promise<void> {
  const [first, ...others] = planned
  if (first === undefined) return
  const targetsOf = ({ plan }: PlannedPush) => plan.targets.map(({ target }) => target)
  if (others.length > 0)
    return insertTargetsOfPushes(
      tx,
      planned.flatMap((one) => targetsOf(one).map((target) => ({ pushId: one.push.pushId, target }))),
    )
  const { pushId, generation, submittedAt: offeredAt } = first.push
  await insertTargets(tx, { pushId, generation, offeredAt }, targetsOf(first))
}

async function insertStages(
  tx: Db,
  deps: FleetDeps,
  push: Push,
  plan: PushPlan,
  stages: readonly StagePlan[],
): Promise<NonNullable<NewPush['rollout']>> {
  const stored: StoredRollout = {
    id: `canary_${randomHex(8, deps.random)}`,
    workloadId: push.workloadId,
    pushId: push.pushId,
    status: 'running',
    stages,
    progress: [
      {
        targetCount: push.counts.target,
        startedAt: push.submittedAt.toISOString(),
        convergedAt: null,
        endedAt: null,
      },
    ],
    stageIndex: 0,
    halt: null,
    waived: [],
    actor: push.pushedBy,
    createdAt: push.submittedAt,
    updatedAt: push.submittedAt,
    endedAt: null,
  }
  await insertRollout(tx, stored)
  const uids = plan.targets.map(({ instance }) => instance.uid)
  await insertRolloutMembers(tx, stored.id, 0, uids)
  return { stored, members: new Map(uids.map((uid) => [uid, 0])) }
}
