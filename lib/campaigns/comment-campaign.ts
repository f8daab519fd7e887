import { readComment } from '../changes/approval-parts.ts'
import { refuseFull } from '../changes/comment-approval.ts'
import { countCampaignComments, insertCampaignComment } from '../store/campaign-comments.ts'
import { lockCampaign, moveCampaign } from '../store/campaigns.ts'
import type { CampaignStatus } from '../wire/campaigns.ts'
import type { CampaignOutcome, Decision } from './decisions.ts'
import type { CampaignParts } from './judge/parts.ts'

/** As of a request: from when it is asked for until it is started. */
const TALKED_ABOUT: readonly CampaignStatus[] = ['requested', 'approved']

/** Comment on a campaign that waits to be approved or started, without deciding it. It does not end unheard until a while after. */
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
    const now = clock.now()
    const campaign = await moveCampaign(tx, id, TALKED_ABOUT, { status }, now)
    if (campaign === null) return { ok: false, code: 'campaign-not-ready', status }
    const full = refuseFull(await countCampaignComments(tx, id, actor.userId))
    if (full !== null) return full
    const by = { author: actor.email, authorId: actor.userId, createdAt: now }
    await insertCampaignComment(tx, id, { body: said.text, ...by })
    const detail = JSON.stringify({ plan_hash: campaign.planHash, comment: said.text })
    await tx.record({ action: 'campaign.comment', resource: 'campaign', resourceId: id, detail })
    return { ok: true, campaign }
  })
}
