import { closeCampaign, DECISION_ERRORS } from '../../lib/campaigns/decisions.ts'
import { CAMPAIGN_STEPS } from '../../lib/model/campaign-steps.ts'
import { CampaignDecisionRequest, CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { campaignParams, mayDecide, replyToDecision } from './_campaign-of.ts'

/** Withdraw a campaign that was not started: by a token what its holder asked for, by a person anybody's. */
export default defineHttp({
  route: 'POST /api/campaigns/:id/withdraw',
  summary: 'Withdraw a campaign.',
  access: signedIn(CAMPAIGN_STEPS.withdraw.permission, 'handler'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: jsonBody(CampaignDecisionRequest, {
    whenAbsent: { comment: '', plan_hash: '', prod_confirmation: false },
  }),
  replies: [{ status: 200, description: 'The campaign.', json: CampaignRecord }],
  errors: [...DECISION_ERRORS, 'session-required'],
  async handle({ params, body, actor }, ctx) {
    const asking = await mayDecide(ctx, params.id, actor, 'withdraw')
    if (!asking.ok) return asking.reply
    const decision = {
      id: params.id,
      actor: asking.actor,
      comment: body.comment,
      status: 'withdrawn' as const,
    }
    return replyToDecision(ctx, actor, await closeCampaign(ctx.campaigns.parts, decision))
  },
})
