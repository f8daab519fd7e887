import { continueCampaign, DECISION_ERRORS } from '../../lib/campaigns/decisions.ts'
import { readLimits } from '../../lib/campaigns/read-campaign.ts'
import { CAMPAIGN_STEPS } from '../../lib/model/campaign-steps.ts'
import { CampaignContinueRequest, CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { problemOf } from '../../runtime/reply.ts'
import { campaignParams, mayDecide, replyToDecision } from './_campaign-of.ts'

/** Continue a paused or halted campaign; limits may be raised, with a comment. */
export default defineHttp({
  route: 'POST /api/campaigns/:id/continue',
  summary: 'Continue a paused or halted campaign.',
  access: signedIn(CAMPAIGN_STEPS.continue.permission, 'handler'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: jsonBody(CampaignContinueRequest, { whenAbsent: { comment: '' } }),
  replies: [{ status: 200, description: 'The campaign.', json: CampaignRecord }],
  errors: [...DECISION_ERRORS, 'campaign-limit-lowered', 'campaign-nothing-left', 'campaign-number-invalid'],
  async handle({ params, body, actor }, ctx) {
    const asking = await mayDecide(ctx, params.id, actor, 'continue')
    if (!asking.ok) return asking.reply
    const limits = readLimits(body.limits ?? {})
    if (!limits.ok) return problemOf(limits)
    const decision = { id: params.id, actor: asking.actor, comment: body.comment, limits: limits.value }
    return replyToDecision(ctx, actor, await continueCampaign(ctx.campaigns.parts, decision))
  },
})
