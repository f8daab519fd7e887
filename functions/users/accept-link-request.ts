import { object } from 'superstruct'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, noBody, noQuery } from '../../runtime/define.ts'
import { noContent, problem } from '../../runtime/reply.ts'
import { UserId } from './_user-record.ts'

/** Link a local user to somebody of the identity provider; its sessions end. */
export default defineHttp({
  route: 'POST /api/link-requests/:id/accept',
  summary: 'Link a local user to somebody of the identity provider; its sessions end.',
  access: inPerson('users:manage', 'nothing'),
  gate: null,
  params: object({ id: UserId }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The user signs in with the provider now.' }],
  errors: ['link-request-not-found', 'already-linked', 'person-linked', 'seed-admin', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    const outcome = await ctx.identity.links.accept(actor, params.id)
    if (outcome.ok) return noContent()
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problem(outcome.code)
  },
})
