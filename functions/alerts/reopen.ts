import { REOPEN_MS, toAlertRecord } from '../../lib/alerts/alert-record.ts'
import { findAlert, reopenAlert } from '../../lib/store/alerts.ts'
import { AlertRecord } from '../../lib/wire/alerts.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { alertParams, isAlertId, mayResolve, RESOLVER_ERRORS } from './_alert-id.ts'
import { aboutWorkloadOf } from './_steps-of.ts'

/**
 * Open an alert again that an operator has resolved, within ten minutes and while its cause has not gone: later it
 * would be another alert. One that is open stays as it is.
 */
export default defineHttp({
  route: 'POST /api/alerts/:id/reopen',
  summary: 'Open an alert again that an operator has just resolved.',
  access: signedIn('alert:resolve', 'handler'),
  gate: null,
  params: alertParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The alert is open.', json: AlertRecord }],
  errors: [...RESOLVER_ERRORS, 'alert-not-found', 'alert-not-reopenable', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    if (!isAlertId(params.id)) return problem('alert-not-found')
    const asking = await mayResolve(ctx, actor, [params.id])
    if (!asking.ok) return asking.reply
    const now = ctx.clock.now()
    const outcome = await ctx.db.change('alert.reopen', asking.actor, async (tx) => {
      const reopened = await reopenAlert(tx, params.id, new Date(now.getTime() - REOPEN_MS))
      if (reopened === null) return { ok: true, alert: await findAlert(tx, params.id) }
      await tx.record({
        action: 'alert.reopen',
        resource: 'alert',
        resourceId: reopened.id,
        workloadId: reopened.workloadId,
        detail: JSON.stringify({ rule: reopened.rule }),
      })
      // The webhook was told when it fired; that it goes on concerns only those who look at it.
      tx.afterCommit(() => ctx.alerts.notices.fired(reopened))
      return { ok: true, alert: reopened }
    })
    if (!outcome.ok) return auditUnavailable(outcome)
    if (outcome.alert === null) return problem('alert-not-found')
    if (outcome.alert.resolvedAt !== null) return problem('alert-not-reopenable')
    const about = aboutWorkloadOf(ctx, outcome.alert.workloadId)
    return json(toAlertRecord(outcome.alert, now, { about }))
  },
})
