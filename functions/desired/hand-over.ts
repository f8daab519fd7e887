import { handOver } from '../../lib/desired/hand-over.ts'
import { HandOverRequest, HandOverResult } from '../../lib/wire/desired.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, jsonBody, noParams, noQuery } from '../../runtime/define.ts'
import { json, problemOf } from '../../runtime/reply.ts'

/**
 * Hand what an owner in Git keeps over to another owner or account, all of it or single objects. What was decided about
 * it stays decided.
 */
export default defineHttp({
  route: 'POST /api/managed-configs/hand-over',
  summary:
    'Hand what an owner in Git keeps over to another owner or account; what was decided stays decided.',
  access: inPerson('config:break_glass', 'nothing'),
  gate: 'config_safety.approvals',
  params: noParams,
  query: noQuery,
  body: jsonBody(HandOverRequest),
  replies: [{ status: 200, description: 'What was handed over.', json: HandOverResult }],
  errors: ['account-unknown', 'not-managed', 'owner-invalid', 'owner-taken', 'audit-unavailable'],
  async handle({ body, actor }, ctx) {
    const outcome = await handOver(ctx, actor, {
      owner: body.owner,
      toOwner: body.to_owner ?? body.owner,
      toAccount: body.to_account_id,
      workloadIds: body.workload_ids ?? null,
      fleetConfigIds: body.fleet_config_ids ?? null,
    })
    if (!outcome.ok)
      return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problemOf(outcome)
    await ctx.fleetConfigs.load()
    const { workloads, fleetConfigs } = outcome
    return json({ workload_count: workloads.length, fleet_config_count: fleetConfigs.length })
  },
})
