import { array } from 'superstruct'
import { listFleetViews } from '../../lib/store/fleet-views.ts'
import { FleetView } from '../../lib/wire/fleet-views.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { toFleetView } from './_fleet-view-record.ts'

/** The views of the fleet that the signed-in user saved, by name, and those that others share. */
export default defineHttp({
  route: 'GET /api/me/views',
  summary: 'List the views of the fleet that the signed-in user saved, and those that others share.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [
    {
      status: 200,
      description: "The views: 20 of one's own at most, and 100 shared ones.",
      json: array(FleetView),
    },
  ],
  errors: [],
  async handle({ actor }, ctx) {
    return json((await listFleetViews(ctx.db, actor.userId)).map(toFleetView))
  },
})
