import { array, object } from 'superstruct'
import { listApiTokens } from '../../lib/store/api-tokens.ts'
import { findServiceAccount } from '../../lib/store/service-accounts.ts'
import { findUser } from '../../lib/store/users.ts'
import { ApiTokenRecord } from '../../lib/wire/identity.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { TokenId, toTokenRecord } from './_token-record.ts'

/** The tokens of a person or a service account, for whoever administers them. */
export default defineHttp({
  route: 'GET /api/users/:id/tokens',
  summary: 'List the API tokens of a user or a service account.',
  access: signedIn('users:manage', 'nothing'),
  gate: null,
  params: object({ id: TokenId }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The tokens, 100 at most.', json: array(ApiTokenRecord) }],
  errors: ['not-found', 'user-not-found'],
  async handle({ params }, ctx) {
    const holder = (await findUser(ctx.db, params.id)) ?? (await findServiceAccount(ctx.db, params.id))
    if (!holder) return problem('user-not-found')
    return json((await listApiTokens(ctx.db, params.id)).map(toTokenRecord))
  },
})
