import { randomHex, uuidv7 } from '../../ids.ts'
import type { UsedComponent } from '../../model/components.ts'
import type { Db } from '../../store/db.ts'
import { insertTargets } from '../../store/push-targets.ts'
import { closePushes, insertPush, updatePushProgress } from '../../store/push-writes.ts'
import type { Push } from '../../store/pushes.ts'
import { insertLifted } from '../../store/quarantines.ts'
import {
  assignRollout,
  insertRollout,
  insertRolloutMembers,
  type StagePlan,
  type StoredRollout,
  stopRollouts,
} from '../../store/rollouts.ts'
import { assignPush, type StoredWorkload } from '../../store/workloads.ts'
import { inTurns } from '../../turns.ts'
import type { PushPath } from '../decide/push-gate.ts'
import { stageSize } from '../decide/rollout.ts'
import type { FleetDeps } from '../state/deps.ts'
import { putTarget } from '../state/followed-push.ts'
import type { FollowedPush, Instance, Workload } from '../state/model.ts'
import { compareInstances, followedPushes } from '../state/state.ts'
import { type PushPlan, planPush } from './push-plan.ts'

/** Thrown inside a push's transaction to take everything back with a code. */
export class Veto extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.code = code
  }
}

/** What the rows of a push are made of. */
export interface PushContent {
  hash: string
  used: readonly UsedComponent[]
  /** The way by which it began; it was asked about at the gate. */
  path: PushPath
  pushedBy: string
  approvalId: string | null
  rollbackTargetKind: string | null
  rollbackOfPushId: string | null
  failedHash: string | null
  /** Only these instances are targets; null for all. */
  scope: ReadonlySet<string> | null
  /** Null for a push to everyone at once. */
  stages: readonly StagePlan[] | null
}

/** A push whose rows were inserted by the running transaction. */
export interface NewPush {
  push: Push
  plan: PushPlan
  scope: ReadonlySet<string> | null
  /** Whose quarantines it lifted; null when it lifts none. */
  lifted: readonly string[] | null
  rollout: { stored: StoredRollout; members: ReadonlyMap<string, number> } | null
  /** Its targets as they are followed once it is committed. */
  followed: Pick<FollowedPush, 'targets' | 'awaiting'>
}

/** What takes long of following a push is done before its commit: between that and its memory nothing may happen. */
async function gatherTargets(plan: PushPlan): Promise<NewPush['followed']> {
  const gathered: NewPush['followed'] = { targets: new Map(), awaiting: new Map() }
  for await (const some of inTurns(plan.targets, PLAN_CHUNK))
    for (const { target } of some) putTarget(gathered, target)
  return gathered
}

/** The instances of the first stage: by pod, connection and uid, of those that can take the config and report. */
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

/** The plan over all live instances. Those that leave meanwhile are as those that leave during the transaction. */
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

/** Whom a push is for, and the scope that it keeps to; everyone where that is null. */
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

/** What the history calls a push that came by this path. */
export function kindOf(path: PushPath): Push['kind'] {
  if (path === 'auto-rollback') return path
  return path === 'rollback' || path === 'campaign-rollback' || path === 'rollout-rollback'
    ? 'rollback'
    : 'approval'
}

/** A push as it is when it is made: the next of its workload. */
function newPush(deps: FleetDeps, row: StoredWorkload, content: PushContent, plan: PushPlan): Push {
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
    rollbackTargetKind: content.rollbackTargetKind,
    excluded: plan.excluded,
    counts: countStates(plan),
  }
}

/**
 * Insert a push with its targets and make it the assignment of its workload (or, staged, of its first
 * stage's members; or, scoped, of the members that it takes back). Nothing is inserted for stages of which the first
 * has nobody. The workload's row must be locked by this transaction. `lifted` names the instances whose quarantines
 * an operator's push has lifted; null for what lifts none.
 */
export async function insertPushRows(
  tx: Db,
  deps: FleetDeps,
  workload: Workload,
  row: StoredWorkload,
  live: readonly Instance[],
  content: PushContent,
  lifted: readonly string[] | null,
): Promise<NewPush> {
  const { plan, scope } = await planContent(deps, row, live, content, lifted)
  const push = newPush(deps, row, content, plan)
  const { pushId, seq, generation, submittedAt: now } = push
  // One that has applied a moment ago is not closed as pending: it is what a later failure goes back to.
  const followed = followedPushes(workload).map(({ push }) => push)
  if (followed.length > 0) await updatePushProgress(tx, followed)
  // Only what is for everyone takes the place of the active push; stages and what ends them leave it as it is.
  const isForEveryone = content.stages === null && scope === null
  const former = [row.rolloutPushId, isForEveryone ? row.activePushId : null]
  await closePushes(
    tx,
    former.filter((pushId) => pushId !== null),
    now,
  )
  await stopRollouts(tx, workload.id, now)
  await insertPush(tx, push)
  await insertLifted(tx, pushId, lifted ?? [])
  await insertTargets(
    tx,
    { pushId, generation, offeredAt: now },
    plan.targets.map(({ target }) => target),
  )
  const rollout = content.stages === null ? null : await insertStages(tx, deps, push, plan, content.stages)
  if (isForEveryone) {
    await assignRollout(tx, workload.id, null)
    await assignPush(tx, { workloadId: workload.id, hash: push.hash, pushId, generation, seq })
  } else {
    await assignRollout(tx, workload.id, { pushId, seq, generation })
  }
  const members = rollout === null ? scope : null
  return { push, plan, scope: members, lifted, rollout, followed: await gatherTargets(plan) }
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
