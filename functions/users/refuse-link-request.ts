import { object } from 'superstruct'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, noBody, noQuery } from '../../runtime/define.ts'
import { noContent, problem } from '../../runtime/reply.ts'
import { UserId } from './_user-record.ts'

/** Refuse to link a local user. */
export default defineHttp({
  route: 'DELETE /api/link-requests/:id',
  summary: 'Refuse to link a local user.',
  access: inPerson('users:manage', 'nothing'),
  gate: null,
  params: object({ id: UserId }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The request is gone.' }],
  errors: ['link-request-not-found', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    const outcome = await ctx.identity.links.refuse(actor, params.id)
    if (outcome.ok) return noContent()
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problem(outcome.code)
  },
})
