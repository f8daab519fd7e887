import { object } from 'superstruct'
import { explainRights } from '../../lib/identity/explain-rights.ts'
import { RightsRecord } from '../../lib/wire/rights.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { TokenId } from '../tokens/_token-record.ts'
import { toRightsRecord } from './_rights-record.ts'

/** What a person or a service account may do, and why; for whoever administers them. */
export default defineHttp({
  route: 'GET /api/users/:id/rights',
  summary: 'Say what a user or a service account may do, by which group, and what its tokens may.',
  access: signedIn('users:manage', 'nothing'),
  gate: null,
  params: object({ id: TokenId }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The rights.', json: RightsRecord }],
  errors: ['not-found', 'user-not-found'],
  async handle({ params }, ctx) {
    const rights = await explainRights(ctx.db, params.id, ctx.clock.now())
    return rights === null ? problem('user-not-found') : json(toRightsRecord(rights))
  },
})
