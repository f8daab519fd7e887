import { optional, string, type } from 'superstruct'
import { beginOf, toEventStats, WINDOWS } from '../../lib/fleet/views/event-stats.ts'
import { countEvents } from '../../lib/store/workload-events.ts'
import { EventStats } from '../../lib/wire/events.ts'
import { EVENT_STATS_WINDOWS } from '../../lib/wire/values.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { findWorkload, workloadParams } from './_workload-path.ts'

/** How often instances came, went and changed their version, in total and in buckets. */
export default defineHttp({
  route: 'GET /api/workloads/:id/events/stats',
  summary: 'Event counts of a workload over a window, with buckets for a sparkline.',
  access: signedIn(null, 'workload'),
  gate: null,
  params: workloadParams,
  query: type({ window: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The counts.', json: EventStats }],
  errors: ['unsupported-window', 'workload-not-found'],
  async handle({ params, query }, ctx) {
    if (findWorkload(ctx, params.id) === null) return problem('workload-not-found')
    const window = EVENT_STATS_WINDOWS.find((known) => known === (query.window ?? '24h'))
    if (window === undefined)
      return problem('unsupported-window', { windows: EVENT_STATS_WINDOWS.join(', ') })
    const db = await ctx.db.upToDate()
    const { bucketSeconds } = WINDOWS[window]
    const since = beginOf(window, ctx.clock.now())
    return json(toEventStats(window, since, await countEvents(db, params.id, since, bucketSeconds)))
  },
})
