import { showMoreOfDiff } from '../../lib/campaigns/plan/groups.ts'
import { findCampaign } from '../../lib/store/campaigns.ts'
import { CampaignDiffPage } from '../../lib/wire/campaigns.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { seenIds } from '../../runtime/reach.ts'
import { problem } from '../../runtime/reply.ts'
import { groupParams, seesCampaign } from './_campaign-of.ts'
import { diffQuery, readFrom, replyLines } from './_group-pages.ts'

/** The lines of the diff of one group from a line on, for a diff that is too long to be shown at once. */
export default defineHttp({
  route: 'GET /api/campaigns/:id/groups/:group/diff',
  summary: "Read more of the diff of a group in a campaign's plan.",
  access: signedIn('config:read_content', 'filtered'),
  gate: 'config_safety.campaigns',
  params: groupParams,
  query: diffQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The lines from `from` on, 0 by default.', json: CampaignDiffPage }],
  errors: ['campaign-not-found', 'campaign-group-not-found', 'invalid-offset', 'out-of-scope', 'server-busy'],
  async handle({ params, query, sight }, ctx) {
    const campaign = await findCampaign(ctx.db, params.id)
    if (campaign === null) return problem('campaign-not-found')
    if (!seesCampaign(ctx, sight, campaign)) return problem('out-of-scope')
    const from = readFrom(query)
    if (from === null) return problem('invalid-offset')
    const asked = { key: params.group, from }
    return replyLines(() => showMoreOfDiff(ctx.campaigns.parts, campaign, seenIds(sight, ctx), asked))
  },
})
