import { removeDraft } from '../../lib/campaigns/decisions.ts'
import { rightsSomewhere } from '../../lib/model/scopes.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { alsoAsking } from '../../runtime/reach.ts'
import { lacks, noContent, problem } from '../../runtime/reply.ts'
import { campaignParams } from './_campaign-of.ts'

/**
 * Remove a draft of a campaign: one's own, or anybody's with `settings:manage`. What it can reach does not matter, for
 * nothing has come of it.
 */
export default defineHttp({
  route: 'DELETE /api/campaigns/:id',
  summary:
    'Remove a campaign that is a draft, or planned, by whoever made it or, with `settings:manage`, by anybody.',
  access: signedIn('config:request', 'handler'),
  gate: 'config_safety.campaigns',
  params: campaignParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The draft is gone.' }],
  errors: ['forbidden', 'out-of-scope', 'campaign-not-found', 'campaign-not-ready', 'audit-unavailable'],
  async handle({ params: { id }, actor }, ctx) {
    const asking = alsoAsking(actor, ({ grants }) =>
      rightsSomewhere(grants).has('config:request') ? null : lacks('config:request', 'out-of-scope'),
    )
    const mayRemoveOthers = actor.permissions.has('settings:manage')
    const removed = await removeDraft(ctx.campaigns.parts, { id, actor: asking, mayRemoveOthers })
    if (removed.ok) return noContent()
    switch (removed.code) {
      case 'audit-unavailable':
        return auditUnavailable(removed)
      case 'campaign-not-ready':
        return problem(removed.code, { status: removed.status })
      case 'forbidden':
        return lacks('settings:manage', 'forbidden')
      default:
        return problem(removed.code)
    }
  },
})
