import type { StagePlan, StageProgress } from '../../store/rollouts.ts'
import type { RolloutStatus } from '../../wire/revisions.ts'

/** How far a rollout got. */
interface Standing {
  status: RolloutStatus
  stages: readonly StagePlan[]
  progress: readonly StageProgress[]
  stageIndex: number
}

/** The last stage of a rollout, to which all instances belong that are in none before. */
export const lastStageOf = ({ stages }: Pick<Standing, 'stages'>): number => stages.length - 1

/** Is this stage of a rollout its last one? */
export const isLastStage = (rollout: Pick<Standing, 'stages'>, index: number): boolean =>
  index >= lastStageOf(rollout)

/** Is the running stage a canary that no operator has promoted yet? */
export function isUnpromoted({ stages, progress, stageIndex }: Standing): boolean {
  return stages[stageIndex]?.canary !== undefined && progress[stageIndex]?.promotedAt === undefined
}

/** The canary stage has converged, and no other instance gets the config until an operator promotes it. */
export function awaitsPromotion(rollout: Standing): boolean {
  const progress = rollout.progress[rollout.stageIndex]
  return rollout.status === 'running' && isUnpromoted(rollout) && progress?.convergedAt != null
}

/**
 * The status as it is shown: a canary that waits is `succeeded`, one that went to all is `promoted`. Stages that
 * go on by themselves end as `succeeded`.
 */
export function shownStatus(rollout: Standing): RolloutStatus {
  if (awaitsPromotion(rollout)) return 'succeeded'
  const isCanary = rollout.stages[0]?.canary !== undefined
  return rollout.status === 'succeeded' && isCanary ? 'promoted' : rollout.status
}
