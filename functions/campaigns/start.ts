import { DECISION_ERRORS, startCampaign } from '../../lib/campaigns/decisions.ts'
import { CAMPAIGN_STEPS } from '../../lib/model/campaign-steps.ts'
import { CampaignDecisionRequest, CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { campaignParams, mayDecide, replyToDecision } from './_campaign-of.ts'

/** Begin to carry an approved campaign to its workloads. */
export default defineHttp({
  route: 'POST /api/campaigns/:id/start',
  summary: 'Start an approved campaign.',
  access: signedIn(CAMPAIGN_STEPS.start.permission, 'handler'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: jsonBody(CampaignDecisionRequest, {
    whenAbsent: { comment: '', plan_hash: '', prod_confirmation: false },
  }),
  replies: [{ status: 200, description: 'The campaign.', json: CampaignRecord }],
  errors: [...DECISION_ERRORS, 'approval-needs-another', 'approval-expired', 'fleet-config-managed'],
  async handle({ params, body, actor }, ctx) {
    const asking = await mayDecide(ctx, params.id, actor, 'start')
    if (!asking.ok) return asking.reply
    const decision = { id: params.id, actor: asking.actor, comment: body.comment }
    return replyToDecision(ctx, actor, await startCampaign(ctx.campaigns.parts, decision))
  },
})
