import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { type Api, ServiceRefusal } from '../server/api.ts'
import { POLL_MS, waitWhile } from '../server/wait.ts'

/** Read a campaign each second while it goes on; see `waitWhile`. */
export const waitForCampaign = (
  api: Api,
  first: CampaignRecord,
  goesOn: (record: CampaignRecord) => boolean,
  seconds: number,
): Promise<CampaignRecord> => waitWhile(api, { path: `/api/campaigns/${first.id}`, first, seconds }, goesOn)

/** How many seconds the plan of a campaign over a whole fleet is waited for, and a turn to begin it. */
export const PLAN_SECONDS_MAX = 300

/**
 * Begin to plan a campaign; resolves with it as it is then. A small plan is there already, and is not waited for. Where
 * too many campaigns are being planned, it is tried again each second, for `seconds` at most.
 */
export async function beginPlan(
  api: Api,
  campaignId: string,
  seconds = PLAN_SECONDS_MAX,
): Promise<CampaignRecord> {
  for (let tries = 0; !(await hasBegun(api, campaignId, tries >= seconds)); tries++)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  return api.get(`/api/campaigns/${campaignId}`)
}

/** Ask for a plan; false where it has to wait for others to be made, unless this is the last try. */
async function hasBegun(api: Api, campaignId: string, isLast: boolean): Promise<boolean> {
  try {
    await api.post(`/api/campaigns/${campaignId}/plan`)
    return true
  } catch (error) {
    const isCrowded =
      error instanceof ServiceRefusal &&
      ['plans_too_many', 'plans_too_many_of_one'].includes(error.code ?? '')
    if (isLast || !isCrowded) throw error
    return false
  }
}
