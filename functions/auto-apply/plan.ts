import { readAutoApplyRule } from '../../lib/auto-apply/approval.ts'
import { AUTO_APPLY_PLAN_ERRORS } from '../../lib/auto-apply/decisions.ts'
import { planAutoApply } from '../../lib/auto-apply/plan.ts'
import { SELECTOR_ERRORS } from '../../lib/selectors/read-selector.ts'
import { AutoApplyPlanRequest, PlannedAutoApply } from '../../lib/wire/auto-apply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problemOf } from '../../runtime/reply.ts'
import {
  fleetConfigParams,
  refuseSelection,
  requireFleetConfig,
} from '../fleet-configs/_fleet-config-path.ts'
import { readWantedAutoApply } from './_auto-apply-of.ts'

/** Say which workloads a version would reach by itself. Nothing is changed by it. */
export default defineHttp({
  route: 'POST /api/fleet-configs/:id/auto-apply/plan',
  summary: 'Plan that a version of a fleet config applies by itself.',
  access: signedIn('config:request', 'handler'),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: noQuery,
  body: jsonBody(AutoApplyPlanRequest, { bytesMax: 65_536 }),
  replies: [{ status: 200, description: 'The plan.', json: PlannedAutoApply }],
  errors: [...AUTO_APPLY_PLAN_ERRORS, ...SELECTOR_ERRORS, 'fleet-config-outranks', 'priority-invalid'],
  async handle({ params, body, actor }, ctx) {
    const found = requireFleetConfig(ctx, params.id, actor, 'config:request')
    if (!found.ok) return found.reply
    const { config } = found
    const read = readWantedAutoApply(config, body)
    if (!read.ok) return problemOf(read)
    const outside = refuseSelection(ctx, actor, 'config:request', { id: config.id, ...read.wanted })
    if (outside !== null) return outside
    const planned = await planAutoApply(ctx.autoApply.parts, config, read.wanted)
    if (!planned.ok) return problemOf(planned)
    const approval_rule = await readAutoApplyRule(ctx.db, planned.plan, null)
    return json({ plan: planned.plan, plan_hash: planned.planHash, approval_rule })
  },
})
