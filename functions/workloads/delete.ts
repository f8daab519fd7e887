import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { noContent, problem } from '../../runtime/reply.ts'
import { workloadParams } from './_workload-path.ts'

/**
 * Remove a workload with its history. Live instances are asked for their full state, and register as a new workload.
 */
export default defineHttp({
  route: 'DELETE /api/workloads/:id',
  summary: 'Remove a workload for good.',
  access: signedIn('workload:delete', 'workload'),
  gate: null,
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The workload is gone.' }],
  errors: ['workload-not-found', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    const outcome = await ctx.fleet.remove(params.id, actor, (tx) =>
      tx.record({ action: 'workload.delete', resource: 'workload', resourceId: params.id }),
    )
    if (outcome.ok) return noContent()
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problem(outcome.code)
  },
})
