import { campaignIs } from '../model/campaign-states.ts'
import type { CampaignStatus } from '../wire/campaigns.ts'
import type { Overruling } from './overruled.ts'

/**
 * What is to be done about a fleet config that Git holds. `campaignRules` where Git says other rules than its campaign has: it
 * is proposed anew with the new ones, or goes on by the former ones since it was started with them.
 */
export type FleetVerdict =
  | { action: 'unchanged' | 'propose'; campaignRules?: 'new' }
  /** Its own campaign is under way, or another one has to end before it can be said what is to be done. */
  | { action: 'waits'; reason: 'other_under_way' | null; campaignRules?: 'former' }
  /**
   * Somebody decided against this very version: it is not proposed again until Git holds another one, or `again` is
   * set.
   */
  | { action: 'held'; reason: 'rejected' | 'aborted' | 'rolled_back' | Undone }

/** What became of a version at a workload that it was brought to, where that does not run it. */
export type Undone = Overruling | 'failed'

/** What is known of a fleet config, and of a wish for it: what Git holds. */
export interface FleetFacts {
  /** The same text, variables and values were wished for last time. */
  isSameWish: boolean
  /** Where the campaign that carries the wish stands; null when there is none. */
  campaign: CampaignStatus | null
  /** Git says other rules for the campaign than it has. */
  hasOtherRules: boolean
  /** Another campaign for this fleet config is changing workloads, or was stopped while it did and may go on. */
  isOtherUnderWay: boolean
  /** Workloads are under the fleet config that no campaign had in its plan, and to which nothing brings it by itself. */
  hasUnreached: boolean
  /** Of workloads that a finished campaign brought the version to, what became of it at one that does not run it. */
  undone: Undone | null
  /** Ask again, whatever was decided. */
  again: boolean
}

/** Decide what is to be done about a wish, from values alone. */
export function decideFleet(facts: FleetFacts): FleetVerdict {
  const campaign = facts.isSameWish ? facts.campaign : null
  const reason = campaign === null ? null : againstIt(campaign)
  if (reason !== null && !facts.again) return { action: 'held', reason }
  // What the other one leaves workloads with is not known yet, and a plan that is made now would not hold.
  if (facts.isOtherUnderWay || campaign === 'rolling_back')
    return { action: 'waits', reason: 'other_under_way' }
  if (campaign === 'done') {
    const { undone } = facts
    if (facts.hasUnreached || (undone !== null && facts.again)) return { action: 'propose' }
    return undone === null ? { action: 'unchanged' } : { action: 'held', reason: undone }
  }
  const hasEnded = reason !== null || campaign === 'withdrawn' || campaign === 'expired'
  if (campaign === null || hasEnded) return { action: 'propose' }
  if (!facts.hasOtherRules) return { action: 'waits', reason: null }
  // What was not started can still be another one.
  return campaignIs(campaign, 'unstarted')
    ? { action: 'propose', campaignRules: 'new' }
    : { action: 'waits', reason: null, campaignRules: 'former' }
}

/** What was decided against a version; null where nothing was. */
function againstIt(campaign: CampaignStatus): 'rejected' | 'aborted' | 'rolled_back' | null {
  if (campaign === 'rolling_back') return 'rolled_back'
  return campaign === 'rejected' || campaign === 'aborted' || campaign === 'rolled_back' ? campaign : null
}
