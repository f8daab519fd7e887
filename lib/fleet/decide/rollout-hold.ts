import type { StagePlan, StageProgress } from '../../store/rollouts.ts'
import type { RolloutStatus } from '../../wire/revisions.ts'

/** How far a rollout got. */
interface Standing {
  status: RolloutStatus
  stages: readonly StagePlan[]
  progress: readonly StageProgress[]
  stageIndex: number
}

/** The stage goes on only when an operator promotes it, and none has. */
export function isHeld({ stages, progress, stageIndex }: Standing): boolean {
  return stages[stageIndex]?.canary !== undefined && progress[stageIndex]?.promotedAt === undefined
}

/** The chosen instances run it, and nobody else will until an operator promotes it. */
export function awaitsPromotion(rollout: Standing): boolean {
  const progress = rollout.progress[rollout.stageIndex]
  return rollout.status === 'running' && isHeld(rollout) && progress?.convergedAt != null
}

/**
 * The status as it is shown: a canary that waits is `succeeded`, one that went to everybody is `promoted`. Stages that
 * go on by themselves end as `succeeded`.
 */
export function shownStatus(rollout: Standing): RolloutStatus {
  if (awaitsPromotion(rollout)) return 'succeeded'
  const isCanary = rollout.stages[0]?.canary !== undefined
  return rollout.status === 'succeeded' && isCanary ? 'promoted' : rollout.status
}
