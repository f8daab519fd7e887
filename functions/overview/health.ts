import { optional, string, type } from 'superstruct'
import { readHealth } from '../../lib/overview/fleet-health.ts'
import { FleetHealth } from '../../lib/wire/fleet-health.ts'
import { EVENT_STATS_WINDOWS } from '../../lib/wire/values.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'

/** How many workloads were connected, degraded, disconnected and leaving over a window. */
export default defineHttp({
  route: 'GET /api/fleet/health',
  summary: 'How the fleet was over the last hour, six hours, day or week.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: type({ window: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The counts.', json: FleetHealth }],
  errors: ['unsupported-window'],
  async handle({ query }, ctx) {
    const window = EVENT_STATS_WINDOWS.find((known) => known === (query.window || '24h'))
    if (window === undefined)
      return problem('unsupported-window', { windows: EVENT_STATS_WINDOWS.join(', ') })
    const { counts } = await ctx.views.tally()
    const { connected, degraded, all_unhealthy, disconnected, leaving } = counts
    const present = { connected, degraded, all_unhealthy, disconnected, leaving }
    return json(await readHealth(ctx.db, ctx.clock.now(), window, counts.all === 0 ? null : present))
  },
})
