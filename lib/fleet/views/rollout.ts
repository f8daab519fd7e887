import type { PushTarget } from '../../store/push-targets.ts'
import type { AgentError, FailureCause, Push } from '../../store/pushes.ts'
import type { GateMeasures, StoredRollout } from '../../store/rollouts.ts'
import type { PushAftermath } from '../../wire/revisions.ts'
import type { RolloutGate, RolloutRecord, RolloutStage, RolloutTarget } from '../../wire/rollouts.ts'
import { describeHalt, GATE_LIMIT } from '../decide/rollout.ts'
import { isLastStage, lastStageOf, shownStatus } from '../decide/rollout-standing.ts'
import type { Instance, StageHold } from '../state/model.ts'
import { errorFields, groupErrors, type TextAccess, toErrorGroups } from './errors.ts'
import { findInstanceFault } from './instance-fault.ts'

/** What a rollout's record is made of: what is stored, and how its members stand now. */
export interface RolloutFacts {
  rollout: StoredRollout
  push: Push
  targets: readonly PushTarget[]
  /** uid → index of its stage. */
  members: ReadonlyMap<string, number>
  /** What the gates measure now; null once the rollout is over. */
  measured: GateMeasures | null
  /** When the dwell of the running stage ends; null while none is watched. */
  dwellEndsAt: Date | null
  /** A member that makes its workload degraded now; null for any other. */
  unwellOf(uid: string): Pick<Instance, 'report' | 'health'> | null
  /** What was done about the failure of its push; null where that has not failed. */
  aftermath: PushAftermath | null
  /** What keeps it from its next stage; null for nothing, or when the rollout is over. */
  hold: StageHold | null
  /** The config that its members would go back to; null when there is none, or when the rollout is over. */
  rollbackTargetHash: string | null
}

type Counts = RolloutRecord['counts']

function countStates(targets: readonly PushTarget[]): Counts {
  const counts: Counts = { pending: 0, applying: 0, applied: 0, failed: 0 }
  for (const { state } of targets) {
    if (state === 'applying' || state === 'applied' || state === 'failed') counts[state]++
    else if (state !== 'cannot_report') counts.pending++
  }
  return counts
}

function stageStatus(rollout: StoredRollout, index: number): RolloutStage['status'] {
  if (index > rollout.stageIndex) return 'waiting'
  const progress = rollout.progress[index]
  if (index < rollout.stageIndex || progress?.endedAt != null || rollout.status === 'succeeded') return 'done'
  if (rollout.status === 'halted') return 'halted'
  if (rollout.status === 'running') return progress?.convergedAt == null ? 'running' : 'dwelling'
  return rollout.status === 'aborted' || rollout.status === 'stopped' ? 'aborted' : 'failed'
}

/** The stage that a target belongs to. */
const stageOf = ({ members, rollout }: RolloutFacts, { instanceUid }: PushTarget): number =>
  members.get(instanceUid) ?? lastStageOf(rollout)

function toStage(facts: RolloutFacts, index: number): RolloutStage {
  const { rollout } = facts
  const plan = rollout.stages[index]!
  const progress = rollout.progress[index]
  const of = facts.targets.filter((target) => stageOf(facts, target) <= index || isLastStage(rollout, index))
  const halt = rollout.halt?.stage === index ? rollout.halt : null
  const status = stageStatus(rollout, index)
  const endsAt = status === 'dwelling' ? facts.dwellEndsAt : null
  const counts = countStates(progress === undefined ? [] : of)
  // A failed push ends its rollout at once, without a halt that names a gate: it counts for `no_failure`.
  const isFailed = rollout.status === 'failed' && index === rollout.stageIndex
  return {
    index,
    ...('count' in plan ? { count: plan.count } : { percentage: plan.percentage }),
    target_count: progress?.targetCount ?? 0,
    dwell_seconds: plan.dwellMs / 1000,
    status,
    ...(progress === undefined ? {} : { started_at: progress.startedAt }),
    ...(progress?.convergedAt == null ? {} : { converged_at: progress.convergedAt }),
    ...(endsAt === null ? {} : { dwell_ends_at: endsAt.toISOString() }),
    ...(progress?.endedAt == null ? {} : { ended_at: progress.endedAt }),
    counts,
    gates: plan.gates.map((name): RolloutGate => {
      const isNow = index === rollout.stageIndex && facts.measured !== null
      const found = (isNow ? facts.measured : progress?.measured)?.[name] ?? { value: 0, waived: 0 }
      const tripped = halt?.gate === name ? halt.value : isFailed && name === 'no_failure' ? counts.failed : 0
      const value = Math.max(found.value, tripped)
      return {
        name,
        value,
        limit: GATE_LIMIT,
        passed: value <= GATE_LIMIT,
        ...(found.waived === 0 ? {} : { waived: found.waived }),
      }
    }),
  }
}

const asError = (fault: FailureCause | null): AgentError | null =>
  fault === null ? null : { ...fault, text: '' }

function toTarget(facts: RolloutFacts, target: PushTarget, texts: TextAccess): RolloutTarget {
  const { halt } = facts.rollout
  const unwell = facts.unwellOf(target.instanceUid)
  const isNamed = halt?.instanceUids.includes(target.instanceUid) ?? false
  return {
    instance_uid: target.instanceUid,
    ...(target.podName === '' ? {} : { pod_name: target.podName }),
    stage: stageOf(facts, target),
    status: target.state,
    ...(isNamed ? { stop_reason: halt!.gate } : {}),
    ...(unwell ? { unhealthy: true as const } : {}),
    ...errorFields(target.error ?? (unwell ? asError(findInstanceFault(unwell)) : null), texts),
    updated_at: target.updatedAt.toISOString(),
  }
}

/** Which instances run the config first: a canary's selection, else the size of the first stage. */
function selectionOf({ stages }: StoredRollout): RolloutRecord['selection'] {
  const [first] = stages
  if (first?.canary !== undefined) return first.canary.selection
  if (first === undefined) return { strategy: 'count' }
  return 'count' in first
    ? { strategy: 'count', count: first.count }
    : { strategy: 'percentage', percentage: first.percentage }
}

/** How many of the instances that a halt is about a record names. */
const HALTED_MAX = 50
/** How many members a record names, the failed first; the convergence of its push names all. */
const TARGETS_MAX = 200

/** What keeps a rollout from its next stage as the wire shows it. */
export const toStageHold = ({ reason, about }: StageHold): NonNullable<RolloutRecord['hold']> => ({
  reason,
  ...(about === '' ? {} : { about }),
})

/** A staged rollout as the wire shows it. */
export function toRolloutRecord(facts: RolloutFacts, texts: TextAccess): RolloutRecord {
  const { rollout, push, aftermath, hold, rollbackTargetHash } = facts
  const groups = toErrorGroups(groupErrors(facts.targets), push.hash, texts)
  const shown = [...facts.targets].sort((a, b) => Number(b.state === 'failed') - Number(a.state === 'failed'))
  const endedAt = rollout.endedAt?.toISOString()
  const { halt } = rollout
  return {
    id: rollout.id,
    workload_id: rollout.workloadId,
    config_hash: push.hash,
    push_id: push.pushId,
    ...(push.approvalId === null ? {} : { approval_id: push.approvalId }),
    status: shownStatus(rollout),
    selection: selectionOf(rollout),
    stages: rollout.stages.map((_, index) => toStage(facts, index)),
    stage_index: rollout.stageIndex,
    targets: shown.slice(0, TARGETS_MAX).map((target) => toTarget(facts, target, texts)),
    counts: countStates(facts.targets),
    ...(halt === null ? {} : { stop_reasons: [halt.gate] }),
    ...(halt === null
      ? {}
      : {
          halt: {
            gate: halt.gate,
            value: halt.value,
            limit: halt.limit,
            stage: halt.stage,
            instance_uids: halt.instanceUids.slice(0, HALTED_MAX),
            message: describeHalt(halt),
          },
        }),
    ...(hold === null || rollout.status !== 'running' ? {} : { hold: toStageHold(hold) }),
    ...(groups.length === 0 ? {} : { error_groups: groups }),
    ...(aftermath === null ? {} : { aftermath }),
    ...(rollbackTargetHash === null ? {} : { rollback_target_hash: rollbackTargetHash }),
    actor: rollout.actor,
    created_at: rollout.createdAt.toISOString(),
    updated_at: rollout.updatedAt.toISOString(),
    ...(rollout.status === 'succeeded' && endedAt !== undefined ? { promoted_at: endedAt } : {}),
    ...(rollout.status === 'aborted' && endedAt !== undefined ? { aborted_at: endedAt } : {}),
    ...(['rollback_started', 'failed'].includes(rollout.status) && endedAt !== undefined
      ? { rolled_back_at: endedAt }
      : {}),
  }
}
