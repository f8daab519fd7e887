import { FreezeRecord } from '../../lib/wire/fleet-configs.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { toFreezeRecord } from './_freeze-record.ts'

/** The freeze that is in force. */
export default defineHttp({
  route: 'GET /api/freeze',
  summary: 'Read the freeze that is in force.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The freeze, or null.', json: FreezeRecord }],
  errors: [],
  handle: async (_request, ctx) => json(await toFreezeRecord(ctx)),
})
