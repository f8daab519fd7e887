import { releaseWorkload } from '../../lib/fleet-configs/holds.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { askAgain } from '../../runtime/reach.ts'
import { noContent, problemOf } from '../../runtime/reply.ts'
import { workloadParams } from './_workload-path.ts'

/** Release a workload, so that campaigns may change it again. Nothing is pushed by it. */
export default defineHttp({
  route: 'POST /api/workloads/:id/release',
  summary: 'End the hold of a workload.',
  access: signedIn('workload:push_config', 'workload'),
  gate: 'config_safety.campaigns',
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'Nothing holds the workload.' }],
  errors: ['out-of-scope', 'workload-not-found', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    const stillMay = askAgain(actor, ctx, 'workload:push_config')
    const outcome = await releaseWorkload(ctx, { workloadId: params.id, actor, stillMay })
    if (outcome.ok) return noContent()
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problemOf(outcome)
  },
})
