import { countOpenAlerts } from '../../lib/store/alerts.ts'
import { AlertCount } from '../../lib/wire/alerts.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'

/** How many alerts are open: every page shows it, and few show the alerts. */
export default defineHttp({
  route: 'GET /api/alerts/count',
  summary: 'Count the open alerts.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The number.', json: AlertCount }],
  errors: [],
  async handle(_request, ctx) {
    return json({ open_count: await countOpenAlerts(ctx.db) })
  },
})
