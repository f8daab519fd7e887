import { holdWorkloads, NAMED_WORKLOADS_MAX } from '../../lib/fleet-configs/holds.ts'
import { HoldsChanged, HoldsRequest } from '../../lib/wire/fleet-configs.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { askAgain, refuseWorkloads } from '../../runtime/reach.ts'
import { json, problem, problemOf } from '../../runtime/reply.ts'

/** Hold many workloads: campaigns leave each alone until somebody releases it. */
export default defineHttp({
  route: 'POST /api/holds',
  summary: 'Let campaigns leave many workloads alone.',
  access: signedIn('workload:push_config', 'handler'),
  gate: 'config_safety.campaigns',
  params: noParams,
  query: noQuery,
  body: jsonBody(HoldsRequest, { bytesMax: 65_536 }),
  replies: [{ status: 200, description: 'How many are held by this call.', json: HoldsChanged }],
  errors: ['out-of-scope', 'workload-ids-invalid', 'reason-invalid', 'until-invalid', 'audit-unavailable'],
  async handle({ body, actor }, ctx) {
    const { workload_ids: ids, reason, until = null } = body
    if (ids.length === 0 || ids.length > NAMED_WORKLOADS_MAX)
      return problem('workload-ids-invalid', { max: NAMED_WORKLOADS_MAX })
    const outside = refuseWorkloads(actor, 'workload:push_config', ctx, ids)
    if (outside !== null) return outside
    const stillMay = askAgain(actor, ctx, 'workload:push_config')
    const outcome = await holdWorkloads(ctx, { workloadIds: ids, reason, until, actor, stillMay })
    if (outcome.ok) return json({ changed_count: outcome.changedCount } satisfies HoldsChanged)
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problemOf(outcome)
  },
})
