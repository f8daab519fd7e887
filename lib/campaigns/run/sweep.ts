import { endAllCampaignTargets } from '../../store/campaign-targets.ts'
import { expireCampaigns, removeForgottenDrafts } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'

const DAY_MS = 86_400_000
/** Requests and approvals that nobody goes on with. */
const WAITING_DAYS = 14
/** Paused and halted campaigns, drafts and plans that nobody touches. */
const FORGOTTEN_DAYS = 30

/** End what nobody goes on with; answers the ids of the campaigns that ended. */
export async function endForgotten({ clock, db }: CampaignParts): Promise<string[]> {
  const now = clock.now()
  const ago = (days: number) => new Date(now.getTime() - days * DAY_MS)
  return db.transaction('campaign.sweep', async (tx) => {
    await removeForgottenDrafts(tx, ago(FORGOTTEN_DAYS))
    const ended = await expireCampaigns(tx, {
      ...{ waitingSince: ago(WAITING_DAYS), stoppedSince: ago(FORGOTTEN_DAYS), now },
    })
    for (const { id } of ended) await endAllCampaignTargets(tx, id, ['waiting', 'offline'], 'cancelled', now)
    return ended.map(({ id }) => id)
  })
}
