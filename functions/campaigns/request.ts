import { DECISION_ERRORS, requestCampaign } from '../../lib/campaigns/decisions.ts'
import { CAMPAIGN_STEPS } from '../../lib/model/campaign-steps.ts'
import { CampaignDecisionRequest, CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { campaignParams, mayDecide, replyToPlanDecision } from './_campaign-of.ts'

/** Ask for the plan of a campaign to be approved; from then on the campaign cannot be changed. */
export default defineHttp({
  route: 'POST /api/campaigns/:id/request',
  summary: "Ask for a campaign's plan to be approved.",
  access: signedIn(CAMPAIGN_STEPS.request.permission, 'handler'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: jsonBody(CampaignDecisionRequest),
  replies: [{ status: 200, description: 'The campaign.', json: CampaignRecord }],
  errors: [
    ...DECISION_ERRORS,
    'campaign-plan-unnamed',
    'campaign-changes-nothing',
    'campaign-patch-unfit',
    'fleet-config-managed',
    'production-confirmation-required',
  ],
  async handle({ params, body, actor }, ctx) {
    const asking = await mayDecide(ctx, params.id, actor, 'request')
    if (!asking.ok) return asking.reply
    const outcome = await requestCampaign(ctx.campaigns.parts, {
      id: params.id,
      actor: asking.actor,
      comment: body.comment,
      planHash: body.plan_hash,
      prodConfirmation: body.prod_confirmation,
    })
    return replyToPlanDecision(ctx, actor, outcome, body.plan_hash)
  },
})
