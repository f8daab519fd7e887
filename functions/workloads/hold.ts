import { holdWorkload } from '../../lib/fleet-configs/holds.ts'
import { toHoldRecord } from '../../lib/fleet-configs/records.ts'
import { HoldRecord, HoldRequest } from '../../lib/wire/fleet-configs.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { askAgain } from '../../runtime/reach.ts'
import { json, problemOf } from '../../runtime/reply.ts'
import { workloadParams } from './_workload-path.ts'

/** Hold a workload: campaigns leave it alone until somebody releases it. */
export default defineHttp({
  route: 'POST /api/workloads/:id/hold',
  summary: 'Let campaigns leave a workload alone.',
  access: signedIn('workload:push_config', 'workload'),
  gate: 'config_safety.campaigns',
  params: workloadParams,
  query: noQuery,
  body: jsonBody(HoldRequest, { bytesMax: 65_536 }),
  replies: [{ status: 200, description: 'The hold.', json: HoldRecord }],
  errors: ['out-of-scope', 'reason-invalid', 'until-invalid', 'workload-not-found', 'audit-unavailable'],
  async handle({ params, body, actor }, ctx) {
    const stillMay = askAgain(actor, ctx, 'workload:push_config')
    const wanted = { workloadId: params.id, reason: body.reason, until: body.until ?? null, actor, stillMay }
    const outcome = await holdWorkload(ctx, wanted)
    if (outcome.ok) return json(toHoldRecord(outcome.hold, ctx.clock.now()))
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problemOf(outcome)
  },
})
