import { AUTO_APPLY_ERRORS, continueAutoApply } from '../../lib/auto-apply/decisions.ts'
import { AutoApplyDecision, AutoApplyRecord } from '../../lib/wire/auto-apply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { fleetConfigParams } from '../fleet-configs/_fleet-config-path.ts'
import { replyToChoice } from './_auto-apply-of.ts'
import { mayChoose } from './_auto-apply-scope.ts'

/** Continue a version that applies by itself, after a pause or after it stopped by itself. */
export default defineHttp({
  route: 'POST /api/fleet-configs/:id/auto-apply/continue',
  summary: 'Continue what applies by itself of a fleet config.',
  access: signedIn('workload:push_config', 'handler'),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: noQuery,
  body: jsonBody(AutoApplyDecision),
  replies: [{ status: 200, description: 'What goes on.', json: AutoApplyRecord }],
  errors: [...AUTO_APPLY_ERRORS, 'fleet-config-outranks', 'auto-apply-lapsed'],
  async handle({ params, body, actor }, ctx) {
    const asking = await mayChoose(ctx, params.id, actor, 'workload:push_config')
    if (!asking.ok) return asking.reply
    const choice = { fleetConfigId: params.id, actor: asking.actor, comment: body.comment }
    return replyToChoice(ctx, actor, await continueAutoApply(ctx.autoApply.parts, choice))
  },
})
