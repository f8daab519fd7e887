import { object } from 'superstruct'
import { defineHttp, inPerson, noBody, noQuery } from '../../runtime/define.ts'
import { answerRevocation, TokenId } from './_token-record.ts'

/** Take away a token of a person or a service account. */
export default defineHttp({
  route: 'DELETE /api/users/:id/tokens/:token_id',
  summary: 'Revoke an API token of a user or a service account; its sockets close at once.',
  access: inPerson('users:manage', 'nothing'),
  gate: null,
  params: object({ id: TokenId, token_id: TokenId }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The token is gone.' }],
  errors: ['not-found', 'token-not-found', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    return answerRevocation(await ctx.identity.apiTokens.revoke(actor, params.id, params.token_id))
  },
})
