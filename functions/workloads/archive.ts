import { recordAlongside } from '../../lib/audit/alongside.ts'
import { type Alert, resolveAlertsOfWorkloads } from '../../lib/store/alerts.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { noContent, problem } from '../../runtime/reply.ts'
import { workloadParams } from './workload-path.ts'

/** Take a disconnected workload out of the default inventory; again changes nothing. */
export default defineHttp({
  route: 'POST /api/workloads/:id/archive',
  summary: 'Archive a disconnected workload.',
  access: signedIn('workload:archive'),
  gate: null,
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The workload is archived.' }],
  errors: ['workload-not-found', 'workload-not-disconnected', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    let resolved: Alert[] = []
    const outcome = await recordAlongside(ctx.audit, (record) =>
      ctx.fleet.archive(params.id, async (tx) => {
        resolved = await resolveAlertsOfWorkloads(tx, [params.id], ctx.clock.now())
        await record(tx, { action: 'workload.archive', actor, resource: 'workload', resourceId: params.id })
      }),
    )
    const isApplied = outcome.ok || (outcome.code === 'audit-unavailable' && outcome.sideEffect === 'applied')
    if (isApplied) for (const alert of resolved) ctx.alerts.notices.resolved(alert)
    if (outcome.ok) return noContent()
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problem(outcome.code)
  },
})
