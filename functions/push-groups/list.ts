import { array } from 'superstruct'
import { listPushGroups } from '../../lib/store/push-groups.ts'
import { PushGroup } from '../../lib/wire/pushes.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { toPushGroup } from './_push-group-record.ts'

/** The groups that pushes can be scoped to, in the order in which they were made. */
export default defineHttp({
  route: 'GET /api/push-groups',
  summary: 'List the push groups.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The groups.', json: array(PushGroup) }],
  errors: [],
  async handle(_request, ctx) {
    return json((await listPushGroups(ctx.db)).map(toPushGroup))
  },
})
