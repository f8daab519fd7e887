import { AUTO_APPLY_ERRORS, turnOffAutoApply } from '../../lib/auto-apply/decisions.ts'
import { AutoApplyDecision, AutoApplyRecord } from '../../lib/wire/auto-apply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { fleetConfigParams } from '../fleet-configs/_fleet-config-path.ts'
import { replyToChoice } from './_auto-apply-of.ts'
import { mayChoose } from './_auto-apply-scope.ts'

/** End the version that applies by itself. Workloads keep what was pushed to them. */
export default defineHttp({
  route: 'POST /api/fleet-configs/:id/auto-apply/turn-off',
  summary: 'Turn off what applies by itself of a fleet config.',
  access: signedIn('workload:push_config', 'handler'),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: noQuery,
  body: jsonBody(AutoApplyDecision),
  replies: [{ status: 200, description: 'What has ended.', json: AutoApplyRecord }],
  errors: [...AUTO_APPLY_ERRORS, 'fleet-config-outranks'],
  async handle({ params, body, actor }, ctx) {
    const asking = await mayChoose(ctx, params.id, actor, 'workload:push_config')
    if (!asking.ok) return asking.reply
    const choice = { fleetConfigId: params.id, actor: asking.actor, comment: body.comment }
    return replyToChoice(ctx, actor, await turnOffAutoApply(ctx.autoApply.parts, choice))
  },
})
