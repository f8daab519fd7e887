import {
  AUTO_APPLY_ERRORS,
  AUTO_APPLY_PLAN_ERRORS,
  requestAutoApply,
} from '../../lib/auto-apply/decisions.ts'
import { SELECTOR_ERRORS } from '../../lib/selectors/read-selector.ts'
import { AutoApplyRecord, AutoApplyRequest } from '../../lib/wire/auto-apply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { problem } from '../../runtime/reply.ts'
import {
  fleetConfigParams,
  refuseSelection,
  requireFleetConfig,
} from '../fleet-configs/_fleet-config-path.ts'
import { readWantedAutoApply, replyToChoice } from './_auto-apply-of.ts'

/** Request that a version applies by itself, with the selector and the priority that the fleet config is to have. */
export default defineHttp({
  route: 'POST /api/fleet-configs/:id/auto-apply',
  summary: 'Ask that a version of a fleet config applies by itself.',
  access: signedIn('workload:push_config', 'handler'),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: noQuery,
  body: jsonBody(AutoApplyRequest, { bytesMax: 65_536 }),
  replies: [{ status: 201, description: 'The request.', json: AutoApplyRecord }],
  errors: [
    ...AUTO_APPLY_ERRORS,
    ...AUTO_APPLY_PLAN_ERRORS,
    ...SELECTOR_ERRORS,
    'fleet-config-outranks',
    'auto-apply-needs-campaign',
    'auto-apply-plan-changed',
    'auto-apply-requested-already',
    'priority-invalid',
    'production-confirmation-required',
  ],
  async handle({ params, body, actor }, ctx) {
    const found = requireFleetConfig(ctx, params.id, actor, 'workload:push_config')
    if (!found.ok) return found.reply
    const { config } = found
    const read = readWantedAutoApply(config, body)
    if (!read.ok) return problem(read.code, read.details)
    const outside = refuseSelection(ctx, actor, 'workload:push_config', { id: config.id, ...read.wanted })
    if (outside !== null) return outside
    const { comment, plan_hash: planHash, prod_confirmation: prodConfirmation } = body
    const asked = { ...read.wanted, planHash, prodConfirmation, actor, comment }
    return replyToChoice(ctx, actor, await requestAutoApply(ctx.autoApply.parts, config, asked), 201)
  },
})
