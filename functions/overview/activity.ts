import { optional, string, type } from 'superstruct'
import { beginOf, toFleetActivity, WINDOWS } from '../../lib/fleet/views/event-stats.ts'
import { countEventsOfEach } from '../../lib/store/workload-events.ts'
import { FleetActivity } from '../../lib/wire/events.ts'
import { ACTIVITY_WORKLOADS_MAX, EVENT_STATS_WINDOWS } from '../../lib/wire/values.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'

/** How often the instances of several workloads came, went and changed their version: the lines in a table's rows. */
export default defineHttp({
  route: 'GET /api/fleet/activity',
  summary: 'Event counts of several workloads over a window, for a sparkline in each row.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: type({
    /** Ids of workloads with commas between them. */
    ids: optional(string()),
    window: optional(string()),
  }),
  body: noBody,
  replies: [{ status: 200, description: 'The counts.', json: FleetActivity }],
  errors: ['unsupported-window', 'activity-too-many'],
  async handle({ query }, ctx) {
    const window = EVENT_STATS_WINDOWS.find((known) => known === (query.window || '24h'))
    if (window === undefined)
      return problem('unsupported-window', { windows: EVENT_STATS_WINDOWS.join(', ') })
    const wanted = new Set((query.ids ?? '').split(','))
    if (wanted.size > ACTIVITY_WORKLOADS_MAX)
      return problem('activity-too-many', { max: ACTIVITY_WORKLOADS_MAX })
    const ids = [...wanted].filter((id) => ctx.fleet.workload(id) !== null)
    const { bucketSeconds } = WINDOWS[window]
    const since = beginOf(window, ctx.clock.now())
    const db = await ctx.db.upToDate()
    return json(toFleetActivity(window, since, ids, await countEventsOfEach(db, ids, since, bucketSeconds)))
  },
})
