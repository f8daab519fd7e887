import { isDrifted } from '../decide/drift.ts'
import { runningHash } from '../decide/running-hash.ts'
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

/** Whether it is known that an instance reports to run something else than it was assigned. */
export type Differs = (instance: Instance, assigned: FollowedPush) => boolean

/** What an instance is assigned that says that it applied it, so that what it reports to run can be held to that; else null. */
export function appliedBy(instance: Instance): FollowedPush | null {
  const assigned = assignmentOf(instance)
  if (assigned === null || instance.connection === null || instance.reportedConfigHash === '') return null
  return runningHash(instance) === assigned.push.hash ? assigned : null
}

/**
 * The instances of a workload that drift by what they say of their config: how many, and the first of them. `altered` are
 * others, which say that they applied it and report to run something else: somebody changed it there.
 */
export interface Drifted {
  count: number
  first: Instance | null
  altered: number
  /** Since when the first of these is; null where that is not known. */
  alteredSince: Date | null
}

/** Find the instances of a workload that drift, and with `differs` those that were altered. */
export function findDrifted(
  fleet: {
    isCompatible(instance: Instance, assigned: FollowedPush): boolean
    state: { altered: ReadonlyMap<string, Date> }
  },
  workload: Workload,
  differs: Differs = () => false,
): Drifted {
  const drifted: Drifted = { count: 0, first: null, altered: 0, alteredSince: null }
  if (workload.active === null && workload.rollout === null && deadEndOf(workload) === null) return drifted
  const isCompatible = (instance: Instance, assigned: FollowedPush) => fleet.isCompatible(instance, assigned)
  for (const instance of workload.live.instances()) {
    if (isInstanceDrifted(instance, isCompatible)) {
      drifted.first ??= instance
      drifted.count++
      continue
    }
    const applied = appliedBy(instance)
    if (applied === null || !differs(instance, applied)) continue
    drifted.altered++
    const since = fleet.state.altered.get(instance.uid)
    if (since !== undefined && (drifted.alteredSince === null || since < drifted.alteredSince))
      drifted.alteredSince = since
  }
  return drifted
}

/** How many instances of a workload drift. */
export const countDrifted = (...of: Parameters<typeof findDrifted>): number => findDrifted(...of).count
