import { defaulted, string, type } from 'superstruct'
import { releaseDesired } from '../../lib/desired/apply.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { noContent, problem, problemOf } from '../../runtime/reply.ts'
import { workloadParams } from '../workloads/_workload-path.ts'

/**
 * Let a workload that is kept in Git be changed by hand again. What it runs stays. The account that proposed what Git
 * holds may do so, or a person who may break the glass.
 */
export default defineHttp({
  route: 'DELETE /api/workloads/:id/config/desired',
  summary: 'Leave a workload to people again; what it runs stays.',
  access: signedIn('workload:push_config', 'workload'),
  gate: 'config_safety.approvals',
  params: workloadParams,
  query: type({ owner: defaulted(string(), '') }),
  body: noBody,
  replies: [{ status: 204, description: 'Git keeps it no longer.' }],
  errors: ['forbidden', 'not-managed', 'managed-elsewhere', 'session-required', 'audit-unavailable'],
  async handle({ params, query, actor }, ctx) {
    const outcome = await releaseDesired(ctx, {
      workloadId: params.id,
      owner: query.owner,
      actor,
      mayOverrule: actor.apiToken === null && actor.permissions.has('config:break_glass'),
    })
    if (outcome.ok) return noContent()
    if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
    if (outcome.code === 'not-its-pipeline')
      return problem(actor.apiToken === null ? 'forbidden' : 'session-required')
    return problemOf({ ...outcome, code: outcome.code })
  },
})
