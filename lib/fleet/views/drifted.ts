import { isDrifted, isHeldToConfig } from '../decide/drift.ts'
import { standsTo } from '../decide/standing.ts'
import type { FollowedPush, Instance, Workload } from '../state/model.ts'
import { assignmentOf } from '../state/state.ts'
import { deadEndOf } from './aftermath.ts'

/** Whether what an instance runs in effect was compared with this config, which it is assigned. */
export const isCompared = ({ effect, reportedConfigHash }: Instance, assignedHash: string): boolean =>
  effect !== undefined && effect.assignedHash === assignedHash && effect.reportedHash === reportedConfigHash

/**
 * Where an instance that says it applied its config runs something else, and since when that is known (monotonic), as
 * where somebody has changed it on the host; null where it does not, or that is not known.
 */
export function differsInEffect(instance: Instance): { at: string; sinceMs: number } | null {
  const hash = assignmentOf(instance)?.push.hash
  const { effect } = instance
  if (hash === undefined || effect === undefined || effect.differsAt === null) return null
  if (!isCompared(instance, hash) || standsTo(instance, hash) !== 'agrees') return null
  return { at: effect.differsAt, sinceMs: effect.sinceMs }
}

/** Whether an instance has what its assigned config needs. */
type IsCompatible = (instance: Instance, assigned: FollowedPush) => boolean

/**
 * Whether an instance does not run what it is to run, by what it says of that or by its effective config. Every page, count
 * and alert of drift asks this.
 */
export function isInstanceDrifted(instance: Instance, isCompatible: IsCompatible): boolean {
  if (differsInEffect(instance) !== null)
    return isHeldToConfig(instance, assignmentOf(instance), isCompatible)
  return saysOtherwise(instance, isCompatible)
}

/**
 * Whether an instance says that it does not run what it is to run. One that is assigned nothing has failed the first config of its
 * workload, where it says so of the newest: it drifts, as it does where that config went out at once and stays assigned.
 */
function saysOtherwise(instance: Instance, isCompatible: IsCompatible): boolean {
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

/** The fleet, as far as it is asked what an instance can run. */
interface Judge {
  isCompatible: IsCompatible
}

/** Find the instances of a workload that drift. */
export const findDrifted = (fleet: Judge, workload: Workload): Drifted =>
  find(fleet, workload, isInstanceDrifted)

/** How many instances of a workload drift. */
export const countDrifted = (...of: Parameters<typeof findDrifted>): number => findDrifted(...of).count

/**
 * How many instances of a workload say themselves that they drift. A campaign halts by this alone: collectors have forms
 * of writing a config that no comparison knows.
 */
export const countSayingOtherwise = (fleet: Judge, workload: Workload): number =>
  find(fleet, workload, saysOtherwise).count

function find(fleet: Judge, workload: Workload, isOne: typeof isInstanceDrifted): Drifted {
  const drifted: Drifted = { count: 0, first: null }
  if (workload.active === null && workload.rollout === null && deadEndOf(workload) === null) return drifted
  const isCompatible = (instance: Instance, assigned: FollowedPush) => fleet.isCompatible(instance, assigned)
  for (const instance of workload.live.instances()) {
    if (!isOne(instance, isCompatible)) continue
    drifted.first ??= instance
    drifted.count++
  }
  return drifted
}
