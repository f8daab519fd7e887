import { expect, it } from 'vitest'
import { campaignIs } from '../../../lib/model/campaign-states.ts'
import type { CampaignStatus } from '../../../lib/wire/campaigns.ts'
import { nameStatus } from '../../../runtime/ui/i18n/campaign-status.ts'
import { lookOf } from '../../../runtime/ui/logic/campaigns.ts'

// A page that stays open over an upgrade, and a command line that is older than the service.
const LATER = 'status_of_a_later_version' as CampaignStatus

it('a status that this version does not know is of no kind that it knows, and is shown as it came', () => {
  for (const trait of ['unasked', 'open', 'stands', 'goes-back'] as const)
    expect(campaignIs(LATER, trait)).toBe(false)
  expect(nameStatus({ status: LATER, counts: {} })).toBe(LATER)
  expect(lookOf({ status: LATER, counts: {} } as never)).toEqual(['idle', 'dot'])
})
