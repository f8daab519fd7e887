import { defineHttp, noBody, noParams, noQuery, publicAccess } from '../../runtime/define.ts'
import { text } from '../../runtime/reply.ts'

const PING_TIMEOUT_MS = 1_000

/** Whether this process is the owner and its database answers. Never says why not. */
export default defineHttp({
  route: 'GET /readyz',
  summary: 'Whether the service can do its work.',
  access: publicAccess('probes have no account'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [
    { status: 200, description: 'ready', contentType: 'text/plain; charset=utf-8' },
    { status: 503, description: 'not ready', contentType: 'text/plain; charset=utf-8' },
  ],
  errors: [],
  async handle(_, ctx) {
    return (await ctx.readiness.ping(PING_TIMEOUT_MS)) ? text('ready') : text('not ready\n', 503)
  },
})
