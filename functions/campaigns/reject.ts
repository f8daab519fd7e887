import { closeCampaign, DECISION_ERRORS } from '../../lib/campaigns/decisions.ts'
import { CAMPAIGN_STEPS } from '../../lib/model/campaign-steps.ts'
import { CampaignDecisionRequest, CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { campaignParams, mayDecide, replyToDecision } from './_campaign-of.ts'

/** Reject a campaign that was not started, and say why. */
export default defineHttp({
  route: 'POST /api/campaigns/:id/reject',
  summary: 'Reject a campaign.',
  access: inPerson(CAMPAIGN_STEPS.reject.permission, 'handler'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: jsonBody(CampaignDecisionRequest, {
    whenAbsent: { comment: '', plan_hash: '', prod_confirmation: false },
  }),
  replies: [{ status: 200, description: 'The campaign.', json: CampaignRecord }],
  errors: [...DECISION_ERRORS],
  async handle({ params, body, actor }, ctx) {
    const asking = await mayDecide(ctx, params.id, actor, 'reject')
    if (!asking.ok) return asking.reply
    const decision = {
      id: params.id,
      actor: asking.actor,
      comment: body.comment,
      status: 'rejected' as const,
    }
    return replyToDecision(ctx, actor, await closeCampaign(ctx.campaigns.parts, decision))
  },
})
