import {
  AUTO_APPLY_ERRORS,
  AUTO_APPLY_PLAN_ERRORS,
  requestAutoApply,
} from '../../lib/auto-apply/decisions.ts'
import type { WantedAutoApply } from '../../lib/auto-apply/plan.ts'
import { SELECTOR_ERRORS } from '../../lib/selectors/read-selector.ts'
import { AutoApplyRecord, AutoApplyRequest } from '../../lib/wire/auto-apply.ts'
import type { Context } from '../../runtime/context.ts'
import { type Actor, defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { unlessRefused } from '../../runtime/reach.ts'
import { problemOf, type Reply } from '../../runtime/reply.ts'
import {
  fleetConfigParams,
  refuseSelection,
  requireFleetConfig,
} from '../fleet-configs/_fleet-config-path.ts'
import { readWantedAutoApply, replyToChoice } from './_auto-apply-of.ts'

/** The reply where the fleet config, as it is or as it is asked for, reaches beyond where the caller may request configs. */
function refuseWanted(ctx: Context, caller: Actor, id: string, wanted: WantedAutoApply): Reply | null {
  const found = requireFleetConfig(ctx, id, caller, 'config:request')
  return found.ok ? refuseSelection(ctx, caller, 'config:request', { id, ...wanted }) : found.reply
}

/** Request that a version applies by itself, with the selector and the priority that the fleet config is to have. */
export default defineHttp({
  route: 'POST /api/fleet-configs/:id/auto-apply',
  summary: 'Ask that a version of a fleet config applies by itself.',
  access: signedIn('config:request', 'handler'),
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
    const found = requireFleetConfig(ctx, params.id, actor, 'config:request')
    if (!found.ok) return found.reply
    const { config } = found
    const read = readWantedAutoApply(config, body)
    if (!read.ok) return problemOf(read)
    const asking = await unlessRefused(ctx, actor, (caller) =>
      refuseWanted(ctx, caller, config.id, read.wanted),
    )
    if (!asking.ok) return asking.reply
    const { comment, plan_hash: planHash, prod_confirmation: prodConfirmation } = body
    const asked = { ...read.wanted, planHash, prodConfirmation, actor: asking.actor, comment }
    return replyToChoice(ctx, actor, await requestAutoApply(ctx.autoApply.parts, config, asked), 201)
  },
})
