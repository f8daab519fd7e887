import type { StoredRollout } from '../../store/rollouts.ts'
import { stageSize } from '../decide/rollout.ts'
import { isLastStage } from '../decide/rollout-standing.ts'
import { type PushPlan, planPush } from '../pushes/push-plan.ts'
import type { Rollout, Workload } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'
import { compareInstances } from '../state/state.ts'

/** Instances that take part in a stage from now on, with their targets. */
export type NewMembers = PushPlan['targets']

/** The instances that become members with this stage, besides those that are members already. */
export function chooseMembers(
  { deps, state }: FleetParts,
  workload: Workload,
  { followed, stored }: Rollout,
  stage: number,
  now: Date,
): NewMembers {
  const { push } = followed
  const plan = planPush(
    state.liveInstances(workload),
    { hash: push.hash, generation: push.generation, now },
    followed.required,
    null,
    deps.isCompatible,
  )
  const fresh = plan.targets
    .filter(({ instance }) => !followed.targets.has(instance.uid))
    .sort((a, b) => compareInstances(a.instance, b.instance))
  if (isLastStage(stored, stage)) return fresh
  const eligible = plan.targets.filter(({ target }) => target.isTarget)
  // Members that are not there any more, or that an operator has waived, are replaced by others.
  const waived = new Set(stored.waived)
  const present = eligible.filter(({ instance: { uid } }) => followed.targets.has(uid) && !waived.has(uid))
  const wanted = stageSize(stored.stages[stage]!, eligible.length) - present.length
  return fresh.filter(({ target }) => target.isTarget).slice(0, Math.max(0, wanted))
}

/** The progress of a stage as it begins with these new members. */
export function startStage(
  { followed }: Rollout,
  added: NewMembers,
  now: Date,
): StoredRollout['progress'][number] {
  const more = added.filter(({ target }) => target.isTarget).length
  return {
    targetCount: followed.push.counts.target + more,
    startedAt: now.toISOString(),
    convergedAt: null,
    endedAt: null,
  }
}

/** A copy of the rollout in which the progress of the running stage is changed. */
export function withStage(
  stored: StoredRollout,
  now: Date,
  change: Partial<StoredRollout['progress'][number]>,
): StoredRollout {
  const progress = stored.progress.map((stage, index) =>
    index === stored.stageIndex ? { ...stage, ...change } : stage,
  )
  return { ...stored, progress, updatedAt: now }
}
