import { array } from 'superstruct'
import { listDestinations } from '../../lib/overview/destinations.ts'
import { ExportDestination } from '../../lib/wire/destinations.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { holdsOn } from '../../runtime/reach.ts'
import { json } from '../../runtime/reply.ts'

/** Who exports where. Addresses are a part of configs: only for those who may read them. */
export default defineHttp({
  route: 'GET /api/fleet/destinations',
  summary: 'Where the workloads send data, from their configs; at most 500 destinations.',
  access: signedIn('config:read_content', 'filtered'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The destinations.', json: array(ExportDestination) }],
  errors: [],
  async handle({ actor }, ctx) {
    const workloads = [...ctx.fleet.state.workloads.values()]
    const read = workloads.filter(({ id }) => holdsOn(actor, 'config:read_content', ctx, id))
    return json(await listDestinations(ctx, read))
  },
})
