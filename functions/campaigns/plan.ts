import { PLANNING_ERRORS, PLANS_MAX, PLANS_OF_ONE_MAX } from '../../lib/campaigns/plan/planner.ts'
import { campaignIs } from '../../lib/model/campaign-states.ts'
import { findCampaign } from '../../lib/store/campaigns.ts'
import { CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { campaignParams, refuseCampaign, showCampaign } from './_campaign-of.ts'

const MOST = { 'plans-too-many': PLANS_MAX, 'plans-too-many-of-one': PLANS_OF_ONE_MAX }

/** Begin to plan a campaign. Its record says how far the plan has come, and then what was found. */
export default defineHttp({
  route: 'POST /api/campaigns/:id/plan',
  summary: 'Plan a campaign anew.',
  access: signedIn('config:request', 'handler'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 202, description: 'The campaign, while it is being planned.', json: CampaignRecord }],
  errors: ['campaign-not-found', 'campaign-not-ready', ...PLANNING_ERRORS],
  async handle({ params, actor }, ctx) {
    const outside = await refuseCampaign(ctx.db, params.id, actor, 'config:request')
    if (outside !== null) return outside
    const campaign = await findCampaign(ctx.db, params.id)
    if (campaign === null) return problem('campaign-not-found')
    const { status } = campaign
    if (!campaignIs(status, 'unasked')) return problem('campaign-not-ready', { status })
    const { refusal } = ctx.campaigns.planner.begin(campaign, actor.userId)
    if (refusal !== null)
      return problem(refusal, refusal === 'campaign-being-planned' ? {} : { max: MOST[refusal] })
    return json(await showCampaign(ctx, actor, campaign), 202)
  },
})
