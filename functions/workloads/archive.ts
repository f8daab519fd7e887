import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { noContent, problem } from '../../runtime/reply.ts'
import { workloadParams } from './_workload-path.ts'

/** Take a disconnected workload out of the default inventory; archiving it again changes nothing. */
export default defineHttp({
  route: 'POST /api/workloads/:id/archive',
  summary: 'Archive a disconnected workload.',
  access: signedIn('workload:archive', 'workload'),
  gate: null,
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The workload is archived.' }],
  errors: ['workload-not-found', 'workload-not-disconnected', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    const outcome = await ctx.fleet.archive(params.id, actor, (tx) =>
      tx.record({ action: 'workload.archive', resource: 'workload', resourceId: params.id }),
    )
    if (outcome.ok) return noContent()
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problem(outcome.code)
  },
})
