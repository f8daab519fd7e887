import { toAlertRecord } from '../../lib/alerts/alert-record.ts'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { rightsOn } from '../../lib/model/scopes.ts'
import { readFleetSummary } from '../../lib/overview/fleet-summary.ts'
import { FleetSummary } from '../../lib/wire/fleet-summary.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { aboutWorkloadOf, withSteps } from '../alerts/_steps-of.ts'

/** How the whole fleet is, in numbers, and what to look at first: as large for fifteen thousand workloads as for ten. */
export default defineHttp({
  route: 'GET /api/fleet/summary',
  summary: 'Count the workloads by how they are and by version, with the worst and the most pressing alerts.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The numbers.', json: FleetSummary }],
  errors: [],
  async handle({ actor }, ctx) {
    const now = ctx.clock.now()
    return json(
      await readFleetSummary({
        db: ctx.db,
        clock: ctx.clock,
        tally: await ctx.views.tally(),
        recordOf(id) {
          const workload = ctx.fleet.workload(id)
          if (workload === null) return null
          return ctx.views.workload(workload, sightOf(rightsOn(actor.grants, workload.trustedLabels)))
        },
        aboutOf: (id) => aboutWorkloadOf(ctx, id),
        toRecords: async (alerts) =>
          (await withSteps(ctx, alerts)).map(({ alert, ...around }) => toAlertRecord(alert, now, around)),
      }),
    )
  },
})
