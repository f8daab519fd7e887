import { canReport, isCapable } from './abilities.ts'
import type { Reported } from './offer.ts'

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

/** What is known of the remote config of one live instance. */
export type ReportedConfig =
  /** It has not said anything about its remote config on this connection, and may still do so. */
  | { kind: 'unknown' }
  /** It runs no remote config. */
  | { kind: 'none' }
  | { kind: 'status'; status: 'applied' | 'applying' | 'failed'; hash: string }

/** What an instance has said of its remote config, in the form of the comparison. */
export function toReportedConfig({ reported }: Pick<Held, 'reported'>): ReportedConfig {
  if (!reported.isKnown) return { kind: 'unknown' }
  if (reported.status === 'none') return { kind: 'none' }
  return { kind: 'status', status: reported.status, hash: reported.hash }
}

/** How an instance stands to the config that it should run: `other` is any other config, or none. */
export type ConfigStanding = 'agrees' | 'unknown' | 'applying' | 'failed' | 'other'

/**
 * The one comparison behind the counts, the drift page and the alert. It is between hashes of remote configs: what an
 * instance reports to run in effect has another form, and is never compared with what was pushed.
 */
export function standingOf(assignedHash: string | null, reported: ReportedConfig): ConfigStanding {
  if (assignedHash === null) return 'agrees'
  if (reported.kind === 'unknown') return 'unknown'
  if (reported.kind === 'none' || reported.hash !== assignedHash) return 'other'
  return reported.status === 'applied' ? 'agrees' : reported.status
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
