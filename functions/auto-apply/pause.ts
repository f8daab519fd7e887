import { AUTO_APPLY_ERRORS, pauseAutoApply } from '../../lib/auto-apply/decisions.ts'
import { AutoApplyDecision, AutoApplyRecord } from '../../lib/wire/auto-apply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { problem } from '../../runtime/reply.ts'
import { findFleetConfig, fleetConfigParams } from '../fleet-configs/fleet-config-path.ts'
import { replyToChoice } from './auto-apply-of.ts'

/** Pause the version that applies by itself, until somebody continues it. */
export default defineHttp({
  route: 'POST /api/fleet-configs/:id/auto-apply/pause',
  summary: 'Pause what applies by itself of a fleet config.',
  access: signedIn('workload:push_config', 'nothing'),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: noQuery,
  body: jsonBody(AutoApplyDecision),
  replies: [{ status: 200, description: 'What is paused.', json: AutoApplyRecord }],
  errors: [...AUTO_APPLY_ERRORS],
  async handle({ params, body, actor }, ctx) {
    if (findFleetConfig(ctx, params.id) === null) return problem('fleet-config-not-found')
    const choice = { fleetConfigId: params.id, actor, comment: body.comment }
    return replyToChoice(ctx, actor, await pauseAutoApply(ctx.autoApply.parts, choice))
  },
})
