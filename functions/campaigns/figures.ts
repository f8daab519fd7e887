import { type AboutPush, readFigures } from '../../lib/campaigns/figures.ts'
import { reachOfCampaign } from '../../lib/campaigns/judge/scope.ts'
import { aboutFailure } from '../../lib/fleet/views/failure-of.ts'
import { findCampaign } from '../../lib/store/campaigns.ts'
import { CampaignFigures } from '../../lib/wire/campaigns.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { coversReach, seenIds } from '../../runtime/reach.ts'
import { json, problem } from '../../runtime/reply.ts'
import { campaignParams, seesCampaign } from './_campaign-of.ts'

/** How fast a campaign has reached its workloads, and why it has not reached others. */
export default defineHttp({
  route: 'GET /api/campaigns/:id/figures',
  summary: 'Read how a campaign went.',
  access: signedIn('config:request', 'filtered'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The figures.', json: CampaignFigures }],
  errors: ['campaign-not-found', 'out-of-scope'],
  async handle({ params, sight, actor }, ctx) {
    const campaign = await findCampaign(ctx.db, params.id)
    if (campaign === null) return problem('campaign-not-found')
    if (!seesCampaign(ctx, sight, campaign)) return problem('out-of-scope')
    const withTexts = coversReach(actor, 'config:read_content', reachOfCampaign(campaign))
    const aboutPush: AboutPush = (workloadId, pushId) =>
      aboutFailure(ctx.fleet.workload(workloadId), pushId, { withTexts })
    return json(await readFigures(ctx.db, campaign, seenIds(sight, ctx), aboutPush))
  },
})
