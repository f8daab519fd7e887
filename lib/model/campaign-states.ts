import type { CampaignStatus } from '../wire/campaigns.ts'

/** What a status says of a campaign. */
type Trait =
  /** It was started and neither aborted nor rolled back: what fails of its change later is its failure too. */
  'stands'

/** The one table of what each status of a campaign means. Who needs a set of them names what they have in common. */
const TRAITS: Readonly<Record<CampaignStatus, readonly Trait[]>> = {
  draft: [],
  planned: [],
  requested: [],
  approved: [],
  running: ['stands'],
  paused: ['stands'],
  halted: ['stands'],
  done: ['stands'],
  aborted: [],
  rolling_back: [],
  rolled_back: [],
  rejected: [],
  withdrawn: [],
  expired: [],
}

/** The statuses of which this holds, in the order of the table. */
export const statusesThat = (trait: Trait): readonly CampaignStatus[] =>
  (Object.keys(TRAITS) as CampaignStatus[]).filter((status) => TRAITS[status].includes(trait))
