import type { CampaignStatus } from '../wire/campaigns.ts'

/** What is to be done about a fleet config that Git holds. */
export type FleetVerdict =
  | { action: 'unchanged' | 'waits' | 'propose' }
  /**
   * Somebody decided against this very version: it is not proposed again until Git holds another one, or `again` is
   * set.
   */
  | { action: 'held'; reason: 'rejected' | 'aborted' | 'rolled_back' }

/** What is known of a fleet config, and of a wish for it: what Git holds. */
export interface FleetFacts {
  /** The same text, variables and values were wished for last time. */
  isSameWish: boolean
  /** Where the campaign of the last wish stands; null when there is none. */
  campaign: CampaignStatus | null
  /** Ask again, whatever was decided. */
  again: boolean
}

/** Decide what is to be done about a wish, from values alone. */
export function decideFleet({ isSameWish, campaign, again }: FleetFacts): FleetVerdict {
  if (!isSameWish || campaign === null) return { action: 'propose' }
  switch (campaign) {
    case 'done':
      return { action: 'unchanged' }
    case 'withdrawn':
    case 'expired':
      return { action: 'propose' }
    case 'rejected':
    case 'aborted':
      return again ? { action: 'propose' } : { action: 'held', reason: campaign }
    case 'rolling_back':
    case 'rolled_back':
      return again ? { action: 'propose' } : { action: 'held', reason: 'rolled_back' }
    default:
      return { action: 'waits' }
  }
}
