import { object } from 'superstruct'
import { defineHttp, inPerson, noBody, noQuery } from '../../runtime/define.ts'
import { answerRevocation, TokenId } from './_token-record.ts'

/** Revoke an API token of the signed-in user. A token gives itself up with `POST /api/auth/logout`. */
export default defineHttp({
  route: 'DELETE /api/tokens/:id',
  summary: 'Revoke one of my API tokens; its sockets close at once.',
  access: inPerson(),
  gate: null,
  params: object({ id: TokenId }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The token is gone.' }],
  errors: ['not-found', 'token-not-found', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    return answerRevocation(await ctx.identity.apiTokens.revoke(actor, actor.userId, params.id))
  },
})
