import { hasOutstandingOffer } from './abilities.ts'
import type { Offer, Reported } from './offer.ts'

/*
 * Whether an instance runs what it should: said here and nowhere else. The offer decision, the plan of a push, drift,
 * the gates of a rollout and the alert rules all ask these functions. The comparison is between hashes of remote
 * configs: what an instance reports to run in effect has another form, and is never compared with what was pushed.
 */

/** What is known of the remote config of one live instance. */
export type ReportedConfig =
  /** It has not said anything about its remote config on this connection, and may still do so. */
  | { kind: 'unknown' }
  /** It runs no remote config. */
  | { kind: 'none' }
  | { kind: 'status'; status: 'applied' | 'applying' | 'failed'; hash: string }

/** What an instance has said of its remote config, in the form of the comparison. */
export function toReportedConfig({ reported }: { reported: Reported }): ReportedConfig {
  if (!reported.isKnown) return { kind: 'unknown' }
  if (reported.status === 'none') return { kind: 'none' }
  return { kind: 'status', status: reported.status, hash: reported.hash }
}

/** How an instance stands to the config that it should run: `other` is any other config, or none. */
export type ConfigStanding = 'agrees' | 'unknown' | 'applying' | 'failed' | 'other'

/** How an instance stands to a config; to none at all, null, it agrees whatever it runs. */
export function standingOf(assignedHash: string | null, reported: ReportedConfig): ConfigStanding {
  if (assignedHash === null) return 'agrees'
  if (reported.kind === 'unknown') return 'unknown'
  if (reported.kind === 'none' || reported.hash !== assignedHash) return 'other'
  return reported.status === 'applied' ? 'agrees' : reported.status
}

/** The same of what an instance itself holds. */
export const standsTo = (instance: { reported: Reported }, hash: string): ConfigStanding =>
  standingOf(hash, toReportedConfig(instance))

/** What was offered to an instance, as far as it may still overtake what it says. */
interface Offered {
  offer: Offer | null
  unansweredOtherHash: string | null
  connectionId: number
}

/**
 * Is an offer of another config out to it that it has not answered? What was sent on a former connection is settled by
 * what it says on this one.
 */
export const isOfferedAnother = (
  { offer, connectionId }: Omit<Offered, 'unansweredOtherHash'>,
  hash: string,
) => hasOutstandingOffer({ offer }) && offer?.hash !== hash && offer?.lastSentOn === connectionId

/** It says that it runs this config, and no offer of another one may still overtake that: it needs no offer. */
export function runsForGood(instance: Offered & { reported: Reported }, hash: string): boolean {
  const mayBeOvertaken = instance.unansweredOtherHash !== null || isOfferedAnother(instance, hash)
  return standsTo(instance, hash) === 'agrees' && !mayBeOvertaken
}

/** Does it say that it has applied another config than this one? */
export function runsAnother(instance: { reported: Reported }, hash: string): boolean {
  const reported = toReportedConfig(instance)
  return reported.kind === 'status' && reported.status === 'applied' && reported.hash !== hash
}
