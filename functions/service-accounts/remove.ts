import { object } from 'superstruct'
import { defineHttp, inPerson, noBody, noQuery } from '../../runtime/define.ts'
import { noContent } from '../../runtime/reply.ts'
import { TokenId } from '../tokens/_token-record.ts'
import { refuseServiceAccount } from './_service-account-record.ts'

/** Remove an account for machines; what it did stays in the history under its name. */
export default defineHttp({
  route: 'DELETE /api/service-accounts/:id',
  summary: 'Remove a service account and revoke all its tokens.',
  access: inPerson('users:manage', 'nothing'),
  gate: null,
  params: object({ id: TokenId }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The account is gone.' }],
  errors: ['not-found', 'service-account-not-found', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    const outcome = await ctx.identity.serviceAccounts.remove(actor, params.id)
    return outcome.ok ? noContent() : refuseServiceAccount(outcome)
  },
})
