import { array, string, type } from 'superstruct'
import { listGroupValues } from '../../lib/store/campaign-targets.ts'
import { findCampaign } from '../../lib/store/campaigns.ts'
import { CampaignVariable } from '../../lib/wire/campaigns.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { seenIds } from '../../runtime/reach.ts'
import { problem } from '../../runtime/reply.ts'
import { groupParams, seesCampaign } from './_campaign-of.ts'
import { replyValues } from './_group-pages.ts'

/** All values of one variable in one group of a plan, with how many workloads have each. */
export default defineHttp({
  route: 'GET /api/campaigns/:id/groups/:group/values',
  summary: "List the values of a variable in a group of a campaign's plan.",
  access: signedIn('config:read_content', 'filtered'),
  gate: 'config_safety.campaigns',
  params: groupParams,
  query: type({ ...pageQuery, variable: string() }),
  body: noBody,
  replies: [{ status: 200, description: 'The values, the rarest first.', json: array(CampaignVariable) }],
  errors: ['campaign-not-found', 'out-of-scope', ...PAGE_ERRORS],
  async handle({ params, query, target, sight }, ctx) {
    const campaign = await findCampaign(ctx.db, params.id)
    if (campaign === null) return problem('campaign-not-found')
    if (!seesCampaign(ctx, sight, campaign)) return problem('out-of-scope')
    const of = { campaignId: campaign.id, key: params.group, name: query.variable }
    const seen = seenIds(sight, ctx)
    return replyValues(query, target, 'campaign_values.rarest', (page) =>
      listGroupValues(ctx.db, of, seen, page),
    )
  },
})
