import { canReport, isCapable } from './abilities.ts'
import type { Reported } from './offer.ts'
import { standingOf, toReportedConfig } from './standing.ts'

/** What of an instance says how it stands to its config. */
interface Held {
  connection: object | null
  isDescribed: boolean
  reported: Reported
  capabilities: number
  isExcluded: boolean
}

interface Assigned {
  push: { hash: string }
}

/** Is a live instance one that should run its assigned config and can say so? No other one ever drifts. */
export function isHeldToConfig<Instance extends Held, Push extends Assigned>(
  instance: Instance,
  assigned: Push | null,
  isCompatible: (instance: Instance, assigned: Push) => boolean,
): boolean {
  if (instance.connection === null) return false
  return isCapable(instance) && canReport(instance) && (assigned === null || isCompatible(instance, assigned))
}

/** Does a live instance not run what it should? No report is no change. */
export function isDrifted<Instance extends Held, Push extends Assigned>(
  instance: Instance,
  assigned: Push | null,
  isCompatible: (instance: Instance, assigned: Push) => boolean,
): boolean {
  const standing = standingOf(assigned?.push.hash ?? null, toReportedConfig(instance))
  if (standing === 'agrees' || standing === 'unknown') return false
  return isHeldToConfig(instance, assigned, isCompatible)
}
