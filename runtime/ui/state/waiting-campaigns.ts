import { useRef } from 'preact/hooks'
import { waitsForApproval } from '../../../lib/model/campaign-steps.ts'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { api } from './endpoints.ts'
import { can, holds } from './session.ts'
import { useResource } from './use-resource.ts'

/**
 * The statuses with which a campaign begins or ends to wait for its approval. Of campaigns that run, frames that tell of
 * no other status are left out; of those that do the list is read again, since the palette and the page of campaigns show
 * the same.
 */
const ASKED_OR_ANSWERED: ReadonlySet<CampaignRecord['status']> = new Set([
  'requested',
  'approved',
  'rejected',
  'withdrawn',
  'expired',
  'draft',
])

/** The campaigns whose plan waits for somebody's approval, also again where one lapsed. */
export function useWaitingCampaigns(): readonly CampaignRecord[] {
  const isAsked = can('config_safety.campaigns') && holds('config:request')
  const known = useRef<readonly CampaignRecord[]>([])
  const campaigns = useResource(
    isAsked ? 'campaigns' : null,
    (abort) => api.campaigns(abort),
    (frame) =>
      frame.type === 'campaign_update' &&
      (ASKED_OR_ANSWERED.has(frame.campaign.status) ||
        known.current.find(({ id }) => id === frame.campaign.id)?.status !== frame.campaign.status),
  )
  known.current = campaigns.data ?? []
  return (campaigns.data ?? []).filter(waitsForApproval)
}
