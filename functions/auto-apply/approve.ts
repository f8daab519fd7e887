import { AUTO_APPLY_ERRORS, approveAutoApply } from '../../lib/auto-apply/decisions.ts'
import { AutoApplyDecision, AutoApplyRecord } from '../../lib/wire/auto-apply.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { fleetConfigParams } from '../fleet-configs/_fleet-config-path.ts'
import { replyToChoice } from './_auto-apply-of.ts'
import { mayChoose } from './_auto-apply-scope.ts'

/** Approve the request that a version applies by itself. With enough approvals it is in force at once. */
export default defineHttp({
  route: 'POST /api/fleet-configs/:id/auto-apply/approve',
  summary: 'Approve that a version of a fleet config applies by itself.',
  access: inPerson('config:approve', 'handler'),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: noQuery,
  body: jsonBody(AutoApplyDecision),
  replies: [{ status: 200, description: 'What was approved.', json: AutoApplyRecord }],
  errors: [
    ...AUTO_APPLY_ERRORS,
    'fleet-config-outranks',
    'approval-needs-another',
    'auto-apply-plan-changed',
    'auto-apply-rolled-back',
  ],
  async handle({ params, body, actor }, ctx) {
    const asking = await mayChoose(ctx, params.id, actor, 'config:approve')
    if (!asking.ok) return asking.reply
    const choice = {
      fleetConfigId: params.id,
      actor: asking.actor,
      comment: body.comment,
      planHash: body.plan_hash,
    }
    return replyToChoice(ctx, actor, await approveAutoApply(ctx.autoApply.parts, choice))
  },
})
