import { findAlert } from '../../lib/store/alerts.ts'
import { AlertResolved, AlertResolveRequest } from '../../lib/wire/alerts.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { alertParams, isAlertId, mayResolve, RESOLVER_ERRORS } from './_alert-id.ts'
import { REASON_LENGTH_MAX, readReason, resolveNamed } from './_resolve.ts'

const RESOLVED: AlertResolved = { status: 'resolved' }

/**
 * Resolve an alert, with a reason where there is one. Its rule stays quiet until the cause has gone once. Resolving it
 * again changes nothing.
 */
export default defineHttp({
  route: 'POST /api/alerts/:id/resolve',
  summary: 'Resolve an alert.',
  access: signedIn('alert:resolve', 'handler'),
  gate: null,
  params: alertParams,
  query: noQuery,
  body: jsonBody(AlertResolveRequest, { bytesMax: 16_384, whenAbsent: { reason: '' } }),
  replies: [{ status: 200, description: 'The alert is resolved.', json: AlertResolved }],
  errors: [...RESOLVER_ERRORS, 'reason-invalid', 'alert-not-found', 'audit-unavailable'],
  async handle({ params, body, actor }, ctx) {
    if (!isAlertId(params.id)) return problem('alert-not-found')
    const asking = await mayResolve(ctx, actor, [params.id])
    if (!asking.ok) return asking.reply
    const reason = readReason(body.reason)
    if (reason === null) return problem('reason-invalid', { max: REASON_LENGTH_MAX })
    const outcome = await ctx.db.change('alert.resolve', asking.actor, async (tx) => {
      const isResolved = (await resolveNamed(ctx, tx, [params.id], reason)) > 0
      return { ok: true, isKnown: isResolved || (await findAlert(tx, params.id)) !== null }
    })
    if (!outcome.ok) return auditUnavailable(outcome)
    return outcome.isKnown ? json(RESOLVED) : problem('alert-not-found')
  },
})
