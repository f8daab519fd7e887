import type { ApprovalSummary, ApprovalTally } from '../../../lib/wire/approvals.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { ReviewRecord } from '../../../lib/wire/reviews.ts'
import { isForMe } from './reviews.ts'

/** Whether the reader's own approval of it would count. */
export const waitsForMe = ({ tally }: { tally?: ApprovalTally }): boolean => tally?.own === 'counts'

/** How much waits for the reader, by what it is: the badge and the page of approvals count alike. */
export interface ForYou {
  changes: number
  campaigns: number
  reviews: number
}

export const countForYou = (
  approvals: readonly ApprovalSummary[],
  campaigns: readonly CampaignRecord[],
  reviews: readonly ReviewRecord[],
): ForYou => ({
  changes: approvals.filter(waitsForMe).length,
  campaigns: campaigns.filter(waitsForMe).length,
  reviews: reviews.filter(isForMe).length,
})

export const sumOf = ({ changes, campaigns, reviews }: ForYou): number => changes + campaigns + reviews
