import { AutoApplyState } from '../../lib/wire/auto-apply.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { findFleetConfig, fleetConfigParams } from '../fleet-configs/_fleet-config-path.ts'
import { autoApplyReader } from './_auto-apply-of.ts'

/** Which version of a fleet config applies by itself, and which one is requested to. */
export default defineHttp({
  route: 'GET /api/fleet-configs/:id/auto-apply',
  summary: 'Say whether a version of a fleet config applies by itself.',
  access: signedIn(),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'What is in force and what is asked for.', json: AutoApplyState }],
  errors: ['fleet-config-not-found'],
  async handle({ params, actor }, ctx) {
    if (findFleetConfig(ctx, params.id) === null) return problem('fleet-config-not-found')
    return json(await ctx.autoApply.state(params.id, autoApplyReader(ctx, actor)))
  },
})
