import { isStorable } from '../../lib/model/storable.ts'
import { findAlert, resolveByOperator } from '../../lib/store/alerts.ts'
import { AlertResolved, AlertResolveRequest } from '../../lib/wire/alerts.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { alertParams, isAlertId, mayResolve } from './_alert-id.ts'

/** Longest reason, in UTF-16 units: a note, not a document. */
const REASON_LENGTH_MAX = 500

/** The reason without the blanks around it; null for what the database cannot keep, or what is too long. */
function readReason(given: string): string | null {
  const reason = given.trim()
  return isStorable(reason) && reason.length <= REASON_LENGTH_MAX ? reason : null
}

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
  errors: ['reason-invalid', 'alert-not-found', 'audit-unavailable'],
  async handle({ params, body, actor }, ctx) {
    if (!isAlertId(params.id)) return problem('alert-not-found')
    const asking = await mayResolve(ctx, actor, params.id)
    if (!asking.ok) return asking.reply
    const reason = readReason(body.reason)
    if (reason === null) return problem('reason-invalid', { max: REASON_LENGTH_MAX })
    const outcome = await ctx.db.change('alert.resolve', asking.actor, async (tx) => {
      const resolved = await resolveByOperator(tx, params.id, ctx.clock.now(), reason)
      if (resolved === null) return { ok: true, isKnown: (await findAlert(tx, params.id)) !== null }
      await tx.record({
        action: 'alert.resolve',
        resource: 'alert',
        resourceId: resolved.id,
        workloadId: resolved.workloadId,
        detail: JSON.stringify({ rule: resolved.rule, ...(reason === '' ? {} : { reason }) }),
      })
      tx.afterCommit(() => ctx.alerts.notices.resolved(resolved))
      return { ok: true, isKnown: true }
    })
    if (!outcome.ok) return auditUnavailable(outcome)
    return outcome.isKnown ? json(RESOLVED) : problem('alert-not-found')
  },
})
