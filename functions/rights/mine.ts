import { explainRights } from '../../lib/identity/explain-rights.ts'
import { RightsRecord } from '../../lib/wire/rights.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { toRightsRecord } from './_rights-record.ts'

/** What the signed-in user may do, and by which group; the same where the request comes with a token of the user. */
export default defineHttp({
  route: 'GET /api/me/rights',
  summary: 'Say what the signed-in user may do, by which group, and what the tokens may.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The rights.', json: RightsRecord }],
  errors: ['user-not-found'],
  async handle({ actor }, ctx) {
    const rights = await explainRights(ctx.db, actor.userId, ctx.clock.now())
    return rights === null ? problem('user-not-found') : json(toRightsRecord(rights))
  },
})
