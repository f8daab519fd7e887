import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import type { Api } from '../server/api.ts'

const POLL_MS = 1_000

/**
 * Read a campaign each second while it goes on; resolves with the last that was read, after `seconds` at the latest.
 */
export async function waitWhile(
  api: Api,
  first: CampaignRecord,
  goesOn: (record: CampaignRecord) => boolean,
  seconds: number,
): Promise<CampaignRecord> {
  let record = first
  for (let polls = 0; polls < seconds && goesOn(record); polls++) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    record = await api.get(`/api/campaigns/${first.id}`)
  }
  return record
}

/** Begin to plan a campaign; resolves with it as it is then. A small plan is there already, and is not waited for. */
export async function beginPlan(api: Api, campaignId: string): Promise<CampaignRecord> {
  await api.post(`/api/campaigns/${campaignId}/plan`)
  return api.get(`/api/campaigns/${campaignId}`)
}
