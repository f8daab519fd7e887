import { showMoreComing } from '../../lib/auto-apply/groups.ts'
import { CampaignDiffPage } from '../../lib/wire/campaigns.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { problem } from '../../runtime/reply.ts'
import { diffQuery, readFrom, replyLines } from '../campaigns/_group-pages.ts'
import { COMING_ERRORS, comingGroupParams, readComing } from './_coming-groups.ts'

/** The lines of the diff of one group from a line on, for a diff that is too long to be shown at once. */
export default defineHttp({
  route: 'GET /api/fleet-configs/:id/auto-apply/groups/:group/diff',
  summary: 'Read more of the diff of a group of what is to apply by itself.',
  access: signedIn('config:read_content', 'filtered'),
  gate: 'config_safety.campaigns',
  params: comingGroupParams,
  query: diffQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The lines from `from` on, 0 by default.', json: CampaignDiffPage }],
  errors: [...COMING_ERRORS, 'campaign-group-not-found', 'invalid-offset', 'server-busy'],
  async handle({ params, query, actor, sight }, ctx) {
    const from = readFrom(query)
    if (from === null) return problem('invalid-offset')
    const found = await readComing(ctx, params.id, actor, sight)
    if (!found.ok) return found.reply
    const { version, groups } = found.coming
    const group = groups.find(({ key }) => key === params.group)
    if (group === undefined) return problem('campaign-group-not-found')
    return replyLines(() => showMoreComing(ctx.autoApply.parts, version, group, from))
  },
})
