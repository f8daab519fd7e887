import { array, type } from 'superstruct'
import { showGroups } from '../../lib/campaigns/plan/groups.ts'
import { countGroupedOutside } from '../../lib/store/campaign-targets.ts'
import { findCampaign } from '../../lib/store/campaigns.ts'
import { CampaignGroup } from '../../lib/wire/campaigns.ts'
import { OUTSIDE_HEADER } from '../../lib/wire/values.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { seenIds } from '../../runtime/reach.ts'
import { problem } from '../../runtime/reply.ts'
import { campaignParams, seesCampaign } from './_campaign-of.ts'
import { readGroupLimit, replyGroups } from './_group-pages.ts'

/** The workloads of a plan by how their configs change, with one diff for each way. */
export default defineHttp({
  route: 'GET /api/campaigns/:id/groups',
  summary: "List the groups of equal changes in a campaign's plan.",
  access: signedIn('config:read_content', 'filtered'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: type(pageQuery),
  body: noBody,
  replies: [
    {
      status: 200,
      description:
        'Those with production workloads first, then the rarest, of the workloads within the scope of the caller; 100 a page at most.',
      json: array(CampaignGroup),
    },
  ],
  errors: ['campaign-not-found', 'out-of-scope', 'server-busy', ...PAGE_ERRORS],
  async handle({ params, query, target, sight }, ctx) {
    const campaign = await findCampaign(ctx.db, params.id)
    if (campaign === null) return problem('campaign-not-found')
    if (!seesCampaign(ctx, sight, campaign)) return problem('out-of-scope')
    const limit = readGroupLimit(query)
    if (limit === null) return problem('invalid-limit')
    const seen = seenIds(sight, ctx)
    const page = { order: 'campaign_groups.rarest', limit }
    const reply = await replyGroups(query, target, page, ({ after, limit }) =>
      showGroups(ctx.campaigns.parts, campaign, seen, { after, limit }),
    )
    // Told once, with the first page: it is of all groups.
    if (seen === null || query.cursor !== undefined || reply.status !== 200) return reply
    const outside = await countGroupedOutside(ctx.db, campaign.id, seen)
    return { ...reply, headers: { ...reply.headers, [OUTSIDE_HEADER]: String(outside) } }
  },
})
