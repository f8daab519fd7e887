import { canReport, isCapable } from './abilities.ts'
import type { Reported } from './offer.ts'
import { standingOf, toReportedConfig } from './standing.ts'

/** The parts of an instance that decide whether it drifts. */
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

/** Can this instance run its assigned config and report so, and is it connected? Only then can it drift. */
export function isHeldToConfig<Instance extends Held, Push extends Assigned>(
  instance: Instance,
  assigned: Push | null,
  isCompatible: (instance: Instance, assigned: Push) => boolean,
): boolean {
  if (instance.connection === null) return false
  return isCapable(instance) && canReport(instance) && (assigned === null || isCompatible(instance, assigned))
}

/** Does a live instance not run what it is assigned? False while its reported config is not known. */
export function isDrifted<Instance extends Held, Push extends Assigned>(
  instance: Instance,
  assigned: Push | null,
  isCompatible: (instance: Instance, assigned: Push) => boolean,
): boolean {
  const standing = standingOf(assigned?.push.hash ?? null, toReportedConfig(instance))
  if (standing === 'agrees' || standing === 'unknown') return false
  return isHeldToConfig(instance, assigned, isCompatible)
}
