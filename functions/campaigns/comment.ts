import { commentCampaign } from '../../lib/campaigns/comment-campaign.ts'
import { CampaignCommentRequest, CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { unlessRefused } from '../../runtime/reach.ts'
import { campaignParams, refuseCampaign, replyToDecision } from './_campaign-of.ts'

/** Comment on a campaign that waits to be approved or started, without deciding it. */
export default defineHttp({
  route: 'POST /api/campaigns/:id/comments',
  summary: 'Comment on a campaign.',
  access: signedIn('config:request', 'handler'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: jsonBody(CampaignCommentRequest),
  replies: [{ status: 201, description: 'The campaign with its comment.', json: CampaignRecord }],
  errors: [
    'audit-unavailable',
    'campaign-not-found',
    'campaign-not-ready',
    'comment-required',
    'comments-full',
    'comments-full-of-one',
    'text-not-storable',
    'text-too-long',
  ],
  async handle({ params, body, actor }, ctx) {
    const asking = await unlessRefused(ctx, actor, (caller, db) =>
      refuseCampaign(db, params.id, caller, 'config:request'),
    )
    if (!asking.ok) return asking.reply
    const said = { id: params.id, actor: asking.actor, comment: body.comment }
    return replyToDecision(ctx, actor, await commentCampaign(ctx.campaigns.parts, said), 201)
  },
})
