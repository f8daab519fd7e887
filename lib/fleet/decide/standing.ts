import { hasOutstandingOffer } from './abilities.ts'
import type { Offer, Reported } from './offer.ts'

/*
 * Whether an instance runs what it is assigned is decided here and nowhere else. The offer decision, the plan of a
 * push, drift, the gates of a rollout and the alert rules all ask these functions. They compare hashes of
 * remote configs: the effective config that an instance reports has another form, and its hash is never compared with
 * that of a push.
 */

/** What is known of the remote config of one live instance. */
export type ReportedConfig =
  /** The instance has not said anything about its remote config, or what it said may be out of date. */
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

/** How an instance stands to the config that it is assigned; with none assigned (null) it agrees whatever it runs. */
export function standingOf(assignedHash: string | null, reported: ReportedConfig): ConfigStanding {
  if (assignedHash === null) return 'agrees'
  if (reported.kind === 'unknown') return 'unknown'
  if (reported.kind === 'none' || reported.hash !== assignedHash) return 'other'
  return reported.status === 'applied' ? 'agrees' : reported.status
}

/** How an instance stands to this config by its last report. */
export const standsTo = (instance: { reported: Reported }, hash: string): ConfigStanding =>
  standingOf(hash, toReportedConfig(instance))

/** The offers to an instance that it may still apply after its last report, and so make that report out of date. */
interface Offered {
  offer: Offer | null
  unansweredOtherHash: string | null
  connectionId: number
}

/**
 * Was another config than this one sent to the instance on its present connection, and not answered? Offers sent on a
 * former connection do not count: what the instance says on this connection is newer.
 */
export const isOfferedAnother = (
  { offer, connectionId }: Omit<Offered, 'unansweredOtherHash'>,
  hash: string,
) => hasOutstandingOffer({ offer }) && offer?.hash !== hash && offer?.lastSentOn === connectionId

/** Does the instance report to run this config, with no unanswered offer of another one? Then it needs no offer. */
export function runsForGood(instance: Offered & { reported: Reported }, hash: string): boolean {
  const mayBeOvertaken = instance.unansweredOtherHash !== null || isOfferedAnother(instance, hash)
  return standsTo(instance, hash) === 'agrees' && !mayBeOvertaken
}

/** Does the instance report that it has applied another config than this one? */
export function runsAnother(instance: { reported: Reported }, hash: string): boolean {
  const reported = toReportedConfig(instance)
  return reported.kind === 'status' && reported.status === 'applied' && reported.hash !== hash
}
