import type { RolloutRecord, RolloutStage, RolloutTarget } from '../../../lib/wire/rollouts.ts'

/** Whether a rollout is a canary that its chosen instances run and that waits to be promoted to the others. */
export const awaitsPromotion = (of: RolloutRecord): boolean =>
  of.status === 'succeeded' && of.promoted_at === undefined

/** One stage as a part of the bar: what it adds to the stage before it. */
export interface StageShare {
  stage: RolloutStage
  /** Instances in all when it is done; an estimate for one that has not started. */
  size: number
  /** Instances that it adds. */
  added: number
  /** Those among them that are unhealthy are not counted here. */
  applied: number
  /** Instances that run the config and are unhealthy with it. */
  unhealthy: number
  failed: number
  applying: number
}

function sizeOf(stage: RolloutStage, isLast: boolean, total: number): number {
  if (stage.status !== 'waiting') return stage.target_count
  if (isLast) return total
  const wanted = stage.count ?? Math.ceil((total * (stage.percentage ?? 0)) / 100)
  return Math.min(total, Math.max(1, wanted))
}

/**
 * The stages as parts of one bar. In the record the counts of a stage include those of the stages before it; here they
 * do not.
 */
export function listStageShares(of: RolloutRecord, instanceCount: number): StageShare[] {
  const total = Math.max(instanceCount, ...of.stages.map((stage) => stage.target_count))
  let before = { size: 0, applied: 0, failed: 0, applying: 0 }
  return of.stages.map((stage, index) => {
    const size = Math.max(before.size, sizeOf(stage, index === of.stages.length - 1, total))
    const { applied, failed, applying } = stage.status === 'waiting' ? before : stage.counts
    const unhealthy = countUnhealthy(of, index)
    const share = {
      stage,
      size,
      added: size - before.size,
      applied: Math.max(0, applied - before.applied - unhealthy),
      unhealthy,
      failed: Math.max(0, failed - before.failed),
      applying: Math.max(0, applying - before.applying),
    }
    before = { size, applied, failed, applying }
    return share
  })
}

/** The members of one stage that run the config and are unhealthy with it. */
const countUnhealthy = ({ targets }: RolloutRecord, index: number): number =>
  targets.filter(({ stage, status, unhealthy }) => stage === index && status === 'applied' && unhealthy)
    .length

/** Whether a member is unhealthy, so that to go on is not what to advise. */
export const isAnyUnhealthy = ({ targets }: RolloutRecord): boolean =>
  targets.some(({ unhealthy }) => unhealthy)

/** Whether a rollout halted for sick members of whom none is sick any more. */
export const hasRecovered = (of: RolloutRecord): boolean => of.halt?.gate === 'health' && !isAnyUnhealthy(of)

/** What the gate that a rollout halted over measures now, where that is another value than at the halt; else null. */
export function valueSinceHalt({ status, halt, stages }: RolloutRecord): number | null {
  const gate = stages[halt?.stage ?? 0]?.gates.find(({ name }) => name === halt?.gate)
  if (status !== 'halted' || gate === undefined || gate.value === halt?.value) return null
  return gate.value
}

/** The instances that are in a stage or in one before it. */
export const memberCountOf = ({ stages }: Pick<RolloutRecord, 'stages'>, stage: number): number =>
  stages[stage]?.target_count ?? 0

/** Whether a rollout halted for want of members or of answers, which no gate measures. */
export const isStall = (gate: string | undefined): gate is 'no_member' | 'no_answer' =>
  gate === 'no_member' || gate === 'no_answer'

/** Whether nothing of a stage had failed until somebody took the rollout back: what its record then calls failed. */
export const wasTakenBack = ({ status }: RolloutRecord, stage: RolloutStage): boolean =>
  status === 'rollback_started' &&
  stage.status === 'failed' &&
  stage.counts.failed === 0 &&
  stage.gates.every(({ passed }) => passed)

const RANK: Record<string, number> = { failed: 0, straggler: 1, applying: 2, waiting: 3 }

/** The members, first those that a gate named, then the failed, then those that have not answered; `nameOf` names one. */
export function sortMembers(
  targets: readonly RolloutTarget[],
  nameOf: (uid: string) => string,
): RolloutTarget[] {
  const rankOf = (target: RolloutTarget) => (target.stop_reason ? -1 : (RANK[target.status] ?? 9))
  return [...targets].sort(
    (a, b) =>
      rankOf(a) - rankOf(b) ||
      a.stage - b.stage ||
      nameOf(a.instance_uid).localeCompare(nameOf(b.instance_uid)),
  )
}
