import { NAMED_WORKLOADS_MAX, releaseWorkloads } from '../../lib/fleet-configs/holds.ts'
import { HoldsChanged, HoldsReleaseRequest } from '../../lib/wire/fleet-configs.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { askAgain, refuseWorkloads } from '../../runtime/reach.ts'
import { json, problem, problemOf } from '../../runtime/reply.ts'

/** Release many workloads, so that campaigns may change them again. Nothing is pushed by it. */
export default defineHttp({
  route: 'POST /api/holds/release',
  summary: 'End the holds of many workloads.',
  access: signedIn('workload:push_config', 'handler'),
  gate: 'config_safety.campaigns',
  params: noParams,
  query: noQuery,
  body: jsonBody(HoldsReleaseRequest, { bytesMax: 65_536 }),
  replies: [{ status: 200, description: 'How many were held.', json: HoldsChanged }],
  errors: ['out-of-scope', 'workload-ids-invalid', 'audit-unavailable'],
  async handle({ body: { workload_ids: ids }, actor }, ctx) {
    if (ids.length === 0 || ids.length > NAMED_WORKLOADS_MAX)
      return problem('workload-ids-invalid', { max: NAMED_WORKLOADS_MAX })
    const outside = refuseWorkloads(actor, 'workload:push_config', ctx, ids)
    if (outside !== null) return outside
    const stillMay = askAgain(actor, ctx, 'workload:push_config')
    const outcome = await releaseWorkloads(ctx, { workloadIds: ids, actor, stillMay })
    if (outcome.ok) return json({ changed_count: outcome.changedCount } satisfies HoldsChanged)
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problemOf(outcome)
  },
})
