import { isDrifted } from '../decide/drift.ts'
import type { FollowedPush, Instance, Workload } from '../state/model.ts'
import { assignmentOf } from '../state/state.ts'
import { deadEndOf } from './aftermath.ts'

/** Whether an instance has what its assigned config needs. */
type IsCompatible = (instance: Instance, assigned: FollowedPush) => boolean

/**
 * Whether an instance does not run what it is to run. One that is assigned nothing has failed the first config of its
 * workload, where it says so of the newest: it drifts, as it does where that config went out at once and stays assigned.
 */
export function isInstanceDrifted(instance: Instance, isCompatible: IsCompatible): boolean {
  const assigned = assignmentOf(instance)
  if (assigned !== null) return isDrifted(instance, assigned, isCompatible)
  const failed = instance.workload === null ? null : deadEndOf(instance.workload)
  const { report } = instance
  if (failed === null || report?.status !== 'failed' || report.hash !== failed.hash) return false
  return isDrifted(instance, { push: failed }, () => true)
}

/** The instances of a workload that drift: how many, and the first of them. */
export interface Drifted {
  count: number
  first: Instance | null
}

/** Find the instances of a workload that drift. */
export function findDrifted(
  fleet: { isCompatible(instance: Instance, assigned: FollowedPush): boolean },
  workload: Workload,
): Drifted {
  const drifted: Drifted = { count: 0, first: null }
  if (workload.active === null && workload.rollout === null && deadEndOf(workload) === null) return drifted
  const isCompatible = (instance: Instance, assigned: FollowedPush) => fleet.isCompatible(instance, assigned)
  for (const instance of workload.live.instances()) {
    if (!isInstanceDrifted(instance, isCompatible)) continue
    drifted.first ??= instance
    drifted.count++
  }
  return drifted
}

/** How many instances of a workload drift. */
export const countDrifted = (...of: Parameters<typeof findDrifted>): number => findDrifted(...of).count
