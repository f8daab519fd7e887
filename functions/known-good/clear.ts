import { clearPin } from '../../lib/changes/known-good.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { askAgain } from '../../runtime/reach.ts'
import { noContent, problem } from '../../runtime/reply.ts'
import { workloadParams } from '../workloads/_workload-path.ts'

/** Unpin the known-good config; also when none is pinned. */
export default defineHttp({
  route: 'DELETE /api/workloads/:id/known-good',
  summary: 'Unpin the known-good config.',
  access: signedIn('workload:push_config', 'workload'),
  gate: 'config_safety.guided_rollback',
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'Nothing is pinned.' }],
  errors: ['out-of-scope', 'workload-not-found', 'workload-archived', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    const stillMay = askAgain(actor, ctx, 'workload:push_config')
    const outcome = await clearPin(ctx, { workloadId: params.id, actor, stillMay })
    if (outcome.ok) return noContent()
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problem(outcome.code)
  },
})
