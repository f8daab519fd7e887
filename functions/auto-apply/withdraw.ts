import { AUTO_APPLY_ERRORS, closeAutoApplyRequest } from '../../lib/auto-apply/decisions.ts'
import { AutoApplyDecision, AutoApplyRecord } from '../../lib/wire/auto-apply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { fleetConfigParams } from '../fleet-configs/_fleet-config-path.ts'
import { replyToChoice } from './_auto-apply-of.ts'
import { mayWithdraw } from './_auto-apply-scope.ts'

/** Withdraw the request that a version applies by itself: by a token what its holder asked for, by a person anybody's. */
export default defineHttp({
  route: 'POST /api/fleet-configs/:id/auto-apply/withdraw',
  summary: 'Withdraw the request that a version of a fleet config applies by itself.',
  access: signedIn('config:request', 'handler'),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: noQuery,
  body: jsonBody(AutoApplyDecision),
  replies: [{ status: 200, description: 'What was withdrawn.', json: AutoApplyRecord }],
  errors: [...AUTO_APPLY_ERRORS, 'fleet-config-outranks', 'session-required'],
  async handle({ params, body, actor }, ctx) {
    const asking = await mayWithdraw(ctx, params.id, actor)
    if (!asking.ok) return asking.reply
    const choice = {
      fleetConfigId: params.id,
      actor: asking.actor,
      comment: body.comment,
      status: 'withdrawn' as const,
    }
    return replyToChoice(ctx, actor, await closeAutoApplyRequest(ctx.autoApply.parts, choice))
  },
})
