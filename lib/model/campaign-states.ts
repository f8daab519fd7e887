import type { CampaignStatus } from '../wire/campaigns.ts'

/** What a status says of a campaign. */
type Trait =
  /** Nobody was asked to approve it: it can be edited, planned and removed. */
  | 'unasked'
  /** Nothing of it was brought, and it waits for somebody: to be asked for, approved or started. */
  | 'unstarted'
  /** It is asked for, and neither over nor ended otherwise: another campaign of the same fleet config waits for it. */
  | 'open'
  /** It was started and neither aborted nor rolled back: what fails of its change later is its failure too. */
  | 'stands'
  /** What it brought is taken back, or was. */
  | 'goes-back'

/** The one table of what each status of a campaign means. Who needs a set of them names what they have in common. */
const TRAITS: Readonly<Record<CampaignStatus, readonly Trait[]>> = {
  draft: ['unasked', 'unstarted'],
  planned: ['unasked', 'unstarted'],
  requested: ['open', 'unstarted'],
  approved: ['open', 'unstarted'],
  running: ['open', 'stands'],
  paused: ['open', 'stands'],
  halted: ['open', 'stands'],
  done: ['stands'],
  aborted: [],
  rolling_back: ['open', 'goes-back'],
  rolled_back: ['goes-back'],
  rejected: [],
  withdrawn: [],
  expired: [],
}

/** Whether a campaign with this status is such a one. Of a status that only a later version knows nothing is known. */
export const campaignIs = (status: CampaignStatus, trait: Trait): boolean =>
  (TRAITS as Partial<typeof TRAITS>)[status]?.includes(trait) ?? false

/** The statuses of which this holds, in the order of the table. */
export const statusesThat = (trait: Trait): readonly CampaignStatus[] =>
  (Object.keys(TRAITS) as CampaignStatus[]).filter((status) => campaignIs(status, trait))
