import { toFleetConfigRecord } from '../../lib/fleet-configs/records.ts'
import { FleetConfigRecord } from '../../lib/wire/fleet-configs.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { findFleetConfig, fleetConfigParams } from './_fleet-config-path.ts'

/** One fleet config. */
export default defineHttp({
  route: 'GET /api/fleet-configs/:id',
  summary: 'Read one fleet config.',
  access: signedIn(),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The fleet config.', json: FleetConfigRecord }],
  errors: ['fleet-config-not-found'],
  async handle({ params }, ctx) {
    const config = findFleetConfig(ctx, params.id)
    if (config === null) return problem('fleet-config-not-found')
    const counts = await ctx.fleetConfigs.counts()
    return json(toFleetConfigRecord(ctx.fleetConfigs, config, counts))
  },
})
