import { approveCampaign, DECISION_ERRORS } from '../../lib/campaigns/decisions.ts'
import { CAMPAIGN_STEPS } from '../../lib/model/campaign-steps.ts'
import { CampaignDecisionRequest, CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { campaignParams, mayDecide, replyToPlanDecision } from './_campaign-of.ts'

/** Approve the plan with the hash that is sent; refused when the campaign has another plan by now. */
export default defineHttp({
  route: 'POST /api/campaigns/:id/approve',
  summary: "Approve a campaign's plan.",
  access: inPerson(CAMPAIGN_STEPS.approve.permission, 'handler'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: jsonBody(CampaignDecisionRequest),
  replies: [{ status: 200, description: 'The campaign.', json: CampaignRecord }],
  errors: [...DECISION_ERRORS, 'campaign-plan-unnamed', 'approval-needs-another', 'fleet-config-managed'],
  async handle({ params, body, actor }, ctx) {
    const asking = await mayDecide(ctx, params.id, actor, 'approve')
    if (!asking.ok) return asking.reply
    const outcome = await approveCampaign(ctx.campaigns.parts, {
      id: params.id,
      actor: asking.actor,
      comment: body.comment,
      planHash: body.plan_hash,
    })
    return replyToPlanDecision(ctx, actor, outcome, body.plan_hash)
  },
})
