import { string, type } from 'superstruct'
import { type Alert, findAlert, resolveByOperator } from '../../lib/store/alerts.ts'
import { AlertResolved } from '../../lib/wire/alerts.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'

const RESOLVED: AlertResolved = { status: 'resolved' }

/** Resolve an alert; its rule stays quiet until the cause has gone once. A second time changes nothing. */
export default defineHttp({
  route: 'POST /api/alerts/:id/resolve',
  summary: 'Resolve an alert.',
  access: signedIn('alert:resolve'),
  gate: null,
  params: type({ id: string() }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The alert is resolved.', json: AlertResolved }],
  errors: ['alert-not-found', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    if (!/^[0-9a-f]{32}$/.test(params.id)) return problem('alert-not-found')
    let resolved: Alert | null = null
    const outcome = await ctx.audit.change(async (tx, record) => {
      resolved = await resolveByOperator(tx, params.id, ctx.clock.now())
      if (resolved === null) return { isKnown: (await findAlert(tx, params.id)) !== null }
      await record({
        action: 'alert.resolve',
        actor,
        resource: 'alert',
        resourceId: resolved.id,
        workloadId: resolved.workloadId,
        detail: JSON.stringify({ rule: resolved.rule }),
      })
      return { isKnown: true }
    })
    const isApplied = outcome.ok || outcome.sideEffect === 'applied'
    if (isApplied && resolved !== null) ctx.alerts.notices.resolved(resolved)
    if (!outcome.ok) return auditUnavailable(outcome)
    return outcome.value.isKnown ? json(RESOLVED) : problem('alert-not-found')
  },
})
