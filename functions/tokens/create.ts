import { ApiTokenCreated, ApiTokenRequest } from '../../lib/wire/identity.ts'
import { defineHttp, inPerson, jsonBody, noParams, noQuery } from '../../runtime/define.ts'
import { answerToken, readTokenRequest, TOKEN_ERRORS } from './_token-record.ts'

/** Make an API token that acts in the name of the signed-in user. */
export default defineHttp({
  route: 'POST /api/tokens',
  summary: 'Create an API token for myself; the answer is the only place where it is told.',
  access: inPerson(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(ApiTokenRequest),
  replies: [{ status: 201, description: 'The new token.', json: ApiTokenCreated }],
  errors: [...TOKEN_ERRORS, 'audit-unavailable'],
  async handle({ body, actor }, ctx) {
    return answerToken(await ctx.identity.apiTokens.create(actor, actor.userId, readTokenRequest(body)))
  },
})
