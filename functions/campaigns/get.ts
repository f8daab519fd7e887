import { findCampaign } from '../../lib/store/campaigns.ts'
import { CampaignRecord } from '../../lib/wire/campaigns.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { campaignParams, seesCampaign, showCampaign } from './_campaign-of.ts'

/** One campaign: what it asks for, its plan, and how far it has come. */
export default defineHttp({
  route: 'GET /api/campaigns/:id',
  summary: 'Read a campaign.',
  access: signedIn('config:request', 'filtered'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The campaign.', json: CampaignRecord }],
  errors: ['campaign-not-found', 'out-of-scope'],
  async handle({ params, actor, sight }, ctx) {
    const campaign = await findCampaign(ctx.db, params.id)
    if (campaign === null) return problem('campaign-not-found')
    if (!seesCampaign(ctx, sight, campaign)) return problem('out-of-scope')
    return json(await showCampaign(ctx, actor, campaign))
  },
})
