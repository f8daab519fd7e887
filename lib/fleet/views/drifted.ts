import { isDrifted } from '../decide/drift.ts'
import type { FollowedPush, Instance, Workload } from '../state/model.ts'
import { assignmentOf } from '../state/state.ts'

/** How many instances of a workload drift: they are held to their assigned config, and run something else. */
export function countDrifted(
  fleet: { isCompatible(instance: Instance, assigned: FollowedPush): boolean },
  workload: Workload,
): number {
  if (workload.active === null && workload.rollout === null) return 0
  const isCompatible = (instance: Instance, assigned: FollowedPush) => fleet.isCompatible(instance, assigned)
  let drifted = 0
  for (const instance of workload.live.instances())
    if (isDrifted(instance, assignmentOf(instance), isCompatible)) drifted++
  return drifted
}
