import { array } from 'superstruct'
import { listApiTokens } from '../../lib/store/api-tokens.ts'
import { ApiTokenRecord } from '../../lib/wire/identity.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { toTokenRecord } from './_token-record.ts'

/** The API tokens of the signed-in user, the oldest first; one that expired is listed for another 30 days. */
export default defineHttp({
  route: 'GET /api/tokens',
  summary: 'List my API tokens.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The tokens, 100 at most.', json: array(ApiTokenRecord) }],
  errors: [],
  async handle({ actor }, ctx) {
    return json((await listApiTokens(ctx.db, actor.userId)).map(toTokenRecord))
  },
})
