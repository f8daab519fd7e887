import { abortCampaign, DECISION_ERRORS } from '../../lib/campaigns/decisions.ts'
import { CampaignDecisionRequest, CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { campaignParams, refuseCampaign, replyToDecision } from './_campaign-of.ts'

/** Abort a campaign; workloads that were changed keep their new config. */
export default defineHttp({
  route: 'POST /api/campaigns/:id/abort',
  summary: 'Abort a campaign.',
  access: signedIn('workload:push_config', 'handler'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: jsonBody(CampaignDecisionRequest, {
    whenAbsent: { comment: '', plan_hash: '', prod_confirmation: false },
  }),
  replies: [{ status: 200, description: 'The campaign.', json: CampaignRecord }],
  errors: [...DECISION_ERRORS],
  async handle({ params, body, actor }, ctx) {
    const outside = await refuseCampaign(ctx, params.id, actor, 'workload:push_config')
    if (outside !== null) return outside
    const decision = { id: params.id, actor, comment: body.comment }
    return replyToDecision(ctx, actor, await abortCampaign(ctx.campaigns.parts, decision))
  },
})
