import { defineHttp, noBody, noParams, noQuery, publicAccess } from '../../runtime/define.ts'
import { text } from '../../runtime/reply.ts'

/** Whether the process is alive. Never asks the database. */
export default defineHttp({
  route: 'GET /healthz',
  summary: 'Whether the process is alive.',
  access: publicAccess('probes have no account'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'ok', contentType: 'text/plain; charset=utf-8' }],
  errors: [],
  handle: () => text('ok'),
})
