import { DECISION_ERRORS, rollBackCampaign } from '../../lib/campaigns/decisions.ts'
import { CAMPAIGN_STEPS } from '../../lib/model/campaign-steps.ts'
import { CampaignDecisionRequest, CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { campaignParams, mayDecide, replyToDecision } from './_campaign-of.ts'

/** Give every workload that still runs what a campaign brought its former config. */
export default defineHttp({
  route: 'POST /api/campaigns/:id/roll-back',
  summary: 'Take a campaign back.',
  access: signedIn(CAMPAIGN_STEPS['roll-back'].permission, 'handler'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: jsonBody(CampaignDecisionRequest, {
    whenAbsent: { comment: '', plan_hash: '', prod_confirmation: false },
  }),
  replies: [{ status: 200, description: 'The campaign.', json: CampaignRecord }],
  errors: [...DECISION_ERRORS, 'campaign-approved-for-less', 'campaign-no-way-back', 'campaign-too-old'],
  async handle({ params, body, actor }, ctx) {
    const asking = await mayDecide(ctx, params.id, actor, 'roll-back')
    if (!asking.ok) return asking.reply
    const decision = { id: params.id, actor: asking.actor, comment: body.comment }
    const outcome = await rollBackCampaign(ctx.campaigns.parts, decision)
    // Its version applies by itself no more.
    if (outcome.ok && outcome.campaign.change.kind === 'version')
      ctx.autoApply.decided({ fleetConfigId: outcome.campaign.change.fleet_config_id })
    return replyToDecision(ctx, actor, outcome)
  },
})
