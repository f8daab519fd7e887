import { addComment } from '../changes/add-comment.ts'
import { readComment } from '../changes/approval-parts.ts'
import { lockCampaign, moveCampaign } from '../store/campaigns.ts'
import type { CampaignStatus } from '../wire/campaigns.ts'
import type { CampaignOutcome, Decision } from './decisions.ts'
import type { CampaignParts } from './judge/parts.ts'

/** As of a request: from when it is asked for until it is started. */
const TALKED_ABOUT: readonly CampaignStatus[] = ['requested', 'approved']

/**
 * Comment on a campaign that waits to be approved or started, without deciding it. One that waits for approval does not end unheard
 * until a while after; what is approved ends when it would have, as of requests.
 */
export async function commentCampaign(
  { db, clock }: Pick<CampaignParts, 'db' | 'clock'>,
  { id, actor, comment }: Decision,
): Promise<CampaignOutcome> {
  const said = readComment(comment, { isRequired: true })
  if (!said.ok) return said
  return db.change<CampaignOutcome>('campaign.comment', actor, async (tx) => {
    const before = await lockCampaign(tx, id)
    if (before === null) return { ok: false, code: 'campaign-not-found' }
    const { status } = before
    if (!TALKED_ABOUT.includes(status)) return { ok: false, code: 'campaign-not-ready', status }
    const now = clock.now()
    const full = await addComment(tx, 'campaign', id, { actor, body: said.text, now })
    if (full !== null) return full
    const campaign =
      status === 'requested' ? (await moveCampaign(tx, id, [status], { status }, now))! : before
    const detail = JSON.stringify({ plan_hash: campaign.planHash, comment: said.text })
    await tx.record({ action: 'campaign.comment', resource: 'campaign', resourceId: id, detail })
    return { ok: true, campaign }
  })
}
