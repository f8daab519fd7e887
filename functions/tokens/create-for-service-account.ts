import { object } from 'superstruct'
import { findServiceAccount } from '../../lib/store/service-accounts.ts'
import { ApiTokenCreated, ApiTokenRequest } from '../../lib/wire/identity.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { problem } from '../../runtime/reply.ts'
import { answerToken, readTokenRequest, TOKEN_ERRORS, TokenId } from './_token-record.ts'

/** Make a token of a service account. */
export default defineHttp({
  route: 'POST /api/service-accounts/:id/tokens',
  summary: 'Create an API token for a service account; the answer is the only place where it is told.',
  access: inPerson('users:manage', 'nothing'),
  gate: null,
  params: object({ id: TokenId }),
  query: noQuery,
  body: jsonBody(ApiTokenRequest),
  replies: [{ status: 201, description: 'The new token.', json: ApiTokenCreated }],
  errors: [...TOKEN_ERRORS, 'not-found', 'service-account-not-found', 'audit-unavailable'],
  async handle({ params, body, actor }, ctx) {
    // Only for service accounts: nobody makes a token in the name of another person.
    if (!(await findServiceAccount(ctx.db, params.id))) return problem('service-account-not-found')
    return answerToken(await ctx.identity.apiTokens.create(actor, params.id, readTokenRequest(body)))
  },
})
