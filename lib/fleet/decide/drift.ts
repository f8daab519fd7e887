import type { FollowedPush, Instance } from '../state/model.ts'
import { canReport, isCapable } from './abilities.ts'

/**
 * Does a live instance not run what it should? Only one that can take the config and report counts, and only
 * once it has said what it runs: no report is no change.
 */
export function isDrifted(
  instance: Instance,
  assigned: FollowedPush | null,
  isCompatible: (instance: Instance, assigned: FollowedPush) => boolean,
): boolean {
  if (assigned === null || instance.connection === null || !instance.isDescribed) return false
  const { reported } = instance
  if (!reported.isKnown || !isCapable(instance) || !canReport(instance)) return false
  if (reported.status === 'applied' && reported.hash === assigned.push.hash) return false
  return isCompatible(instance, assigned)
}
