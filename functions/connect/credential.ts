import { AgentCredential } from '../../lib/wire/connect.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, noBody, noParams, noQuery } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'

/**
 * What agents show to be let in. Whoever has it can connect any number of agents, so that it takes a person who manages
 * the settings, and each look leaves a record: it is a POST for that.
 */
export default defineHttp({
  route: 'POST /api/connect/credential',
  summary: 'The shared secret of the agents. The audit log says who asked for it.',
  access: inPerson('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The secret.', json: AgentCredential }],
  errors: ['audit-unavailable'],
  async handle({ actor }, ctx) {
    const secret = ctx.config.opampSharedSecret
    const reply: AgentCredential = { secret }
    const uncached = { 'Cache-Control': 'no-store' }
    if (secret === '') return json(reply, 200, uncached)
    const recorded = await ctx.db.observe({
      actor,
      action: 'opamp.credential_shown',
      resource: 'settings',
      resourceId: 'opamp_shared_secret',
    })
    return recorded.ok ? json(reply, 200, uncached) : auditUnavailable(recorded)
  },
})
