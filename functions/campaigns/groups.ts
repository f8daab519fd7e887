import { array } from 'superstruct'
import { JudgeBusy } from '../../lib/campaigns/judge/judge.ts'
import { showGroups } from '../../lib/campaigns/plan/groups.ts'
import { countGroupedOutside } from '../../lib/store/campaign-targets.ts'
import { findCampaign } from '../../lib/store/campaigns.ts'
import { CampaignGroup } from '../../lib/wire/campaigns.ts'
import { OUTSIDE_HEADER } from '../../lib/wire/values.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { seenIds } from '../../runtime/reach.ts'
import { json, problem } from '../../runtime/reply.ts'
import { campaignParams, seesCampaign } from './_campaign-of.ts'

/** The workloads of a plan by how their configs change, with one diff for each way. */
export default defineHttp({
  route: 'GET /api/campaigns/:id/groups',
  summary: "List the groups of equal changes in a campaign's plan.",
  access: signedIn('config:read_content', 'filtered'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: noBody,
  replies: [
    {
      status: 200,
      description: 'The largest groups first, of the workloads within the scope of the caller; 100 at most.',
      json: array(CampaignGroup),
    },
  ],
  errors: ['campaign-not-found', 'out-of-scope', 'server-busy'],
  async handle({ params, sight }, ctx) {
    const campaign = await findCampaign(ctx.db, params.id)
    if (campaign === null) return problem('campaign-not-found')
    if (!seesCampaign(ctx, sight, campaign)) return problem('out-of-scope')
    try {
      const seen = seenIds(sight, ctx)
      const groups = await showGroups(ctx.campaigns.parts, campaign, seen)
      if (seen === null) return json(groups)
      const outside = await countGroupedOutside(ctx.db, campaign.id, seen)
      return json(groups, 200, { [OUTSIDE_HEADER]: String(outside) })
    } catch (error) {
      if (error instanceof JudgeBusy) return problem('server-busy')
      throw error
    }
  },
})
