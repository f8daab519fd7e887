import { AlertsResolved, AlertsResolveRequest } from '../../lib/wire/alerts.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { isAlertId, mayResolve, RESOLVER_ERRORS } from './_alert-id.ts'
import { REASON_LENGTH_MAX, readReason, resolveNamed } from './_resolve.ts'

/** Alerts that one call can name: they are resolved in one transaction, which has the lock of the audit trail. */
const NAMED_MAX = 100

/** Resolve several alerts with one reason, all or none. Those that are resolved already, or gone, are passed over. */
export default defineHttp({
  route: 'POST /api/alerts/resolve',
  summary: 'Resolve several alerts.',
  access: signedIn('alert:resolve', 'handler'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(AlertsResolveRequest, { bytesMax: 16_384 }),
  replies: [{ status: 200, description: 'How many were resolved by this call.', json: AlertsResolved }],
  errors: [...RESOLVER_ERRORS, 'alert-ids-invalid', 'out-of-scope', 'reason-invalid', 'audit-unavailable'],
  async handle({ body, actor }, ctx) {
    const ids = [...new Set(body.alert_ids)].sort()
    if (ids.length === 0 || ids.length > NAMED_MAX || !ids.every(isAlertId))
      return problem('alert-ids-invalid', { max: NAMED_MAX })
    const asking = await mayResolve(ctx, actor, ids)
    if (!asking.ok) return asking.reply
    const reason = readReason(body.reason)
    if (reason === null) return problem('reason-invalid', { max: REASON_LENGTH_MAX })
    const outcome = await ctx.db.change('alert.resolve', asking.actor, async (tx) => ({
      ok: true,
      count: await resolveNamed(ctx, tx, ids, reason),
    }))
    return outcome.ok
      ? json({ resolved_count: outcome.count } satisfies AlertsResolved)
      : auditUnavailable(outcome)
  },
})
