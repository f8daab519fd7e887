import { daysBefore, LEFT_STOPPED_DAYS } from '../../model/left-stopped.ts'
import { statesThat } from '../../model/target-states.ts'
import { endAllCampaignTargets } from '../../store/campaign-targets.ts'
import { expireCampaigns, forgetTexts, removeForgottenDrafts } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'

/** Requested and approved campaigns expire after so many days without a change. */
const WAITING_DAYS = 14
/** Drafts and plans are removed after so many days without a change, as what is stopped is ended. */
const FORGOTTEN_DAYS = LEFT_STOPPED_DAYS
/**
 * Texts and patches are forgotten so many days after the end, by when nobody catches up and nothing is rolled back. The
 * hash that was approved, the plan and the targets stay.
 */
const TEXTS_DAYS = 90
/** Campaigns whose texts are forgotten in one sweep. */
const TEXTS_MAX = 100

/**
 * End campaigns that nobody has changed for long, remove drafts, and forget the texts of what ended long ago. Answers the
 * ids of those that ended.
 */
export async function endForgotten({ clock, db }: CampaignParts): Promise<string[]> {
  const now = clock.now()
  const ago = (days: number) => daysBefore(now, days)
  const swept = await db.change('campaign.sweep', null, async (tx) => {
    await removeForgottenDrafts(tx, ago(FORGOTTEN_DAYS))
    await forgetTexts(tx, ago(TEXTS_DAYS), TEXTS_MAX)
    const ended = await expireCampaigns(tx, {
      waitingSince: ago(WAITING_DAYS),
      stoppedSince: ago(FORGOTTEN_DAYS),
      now,
    })
    for (const { id, status } of ended) {
      await endAllCampaignTargets(tx, id, statesThat('waits'), 'cancelled', now)
      const idleDays = status === 'expired' ? WAITING_DAYS : FORGOTTEN_DAYS
      const detail = JSON.stringify({ status, idle_days: idleDays })
      await tx.record({ action: 'campaign.expire', resource: 'campaign', resourceId: id, detail })
    }
    return { ok: true, ids: ended.map(({ id }) => id) }
  })
  return swept.ok ? swept.ids : []
}
