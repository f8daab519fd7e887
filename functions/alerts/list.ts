import { array, optional, string, type } from 'superstruct'
import { toAlertRecord } from '../../lib/alerts/alert-record.ts'
import { listAlerts } from '../../lib/store/alerts.ts'
import { AlertRecord } from '../../lib/wire/alerts.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { json } from '../../runtime/reply.ts'
import { withSteps } from './_steps-of.ts'

/** Active alerts, newest first, of all workloads or of one; with `include_resolved=true` resolved ones as well. */
export default defineHttp({
  route: 'GET /api/alerts',
  summary: 'List the alerts.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: type({ ...pageQuery, include_resolved: optional(string()), workload_id: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The alerts.', json: array(AlertRecord) }],
  errors: PAGE_ERRORS,
  handle({ query, target }, ctx) {
    const includeResolved = query.include_resolved === 'true'
    const workloadId = query.workload_id ?? null
    // PostgreSQL takes no U+0000 in a text, and no workload has one in its id.
    if (workloadId?.includes('\0')) return json([])
    const now = ctx.clock.now()
    return listReply(query, target, {
      order: 'alerts.fired_at',
      key: ['number', 'string'],
      async fetch({ after, limit }) {
        const position = after && { firedAt: new Date(Number(after[0])), id: String(after[1]) }
        return withSteps(
          ctx,
          await listAlerts(ctx.db, { includeResolved, workloadId, after: position, limit }),
        )
      },
      keyOf: ({ alert }) => [alert.firedAt.getTime(), alert.id],
      toWire: ({ alert, ...around }) => toAlertRecord(alert, now, around),
    })
  },
})
