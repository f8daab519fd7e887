import { object } from 'superstruct'
import { defineHttp, inPerson, noBody, noQuery } from '../../runtime/define.ts'
import { noContent } from '../../runtime/reply.ts'
import { refuseUser, UserId } from './_user-record.ts'

/** Remove a user; what the user did stays in the history under the e-mail. */
export default defineHttp({
  route: 'DELETE /api/users/:id',
  summary: 'Remove a user and end all its sessions.',
  access: inPerson('users:manage', 'nothing'),
  gate: null,
  params: object({ id: UserId }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The user is gone.' }],
  errors: ['not-found', 'user-not-found', 'last-administrator', 'seed-admin', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    const outcome = await ctx.identity.users.remove(actor, params.id)
    return outcome.ok ? noContent() : refuseUser(outcome)
  },
})
