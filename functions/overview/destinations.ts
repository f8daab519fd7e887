import { array } from 'superstruct'
import { listDestinations, sendsByConfig } from '../../lib/overview/destinations.ts'
import { ExportDestination } from '../../lib/wire/destinations.ts'
import { OUTSIDE_HEADER } from '../../lib/wire/values.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
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
  replies: [
    {
      status: 200,
      description:
        'The destinations. The header says how many workloads with a config lie outside of the scope.',
      json: array(ExportDestination),
    },
  ],
  errors: [],
  async handle({ sight }, ctx) {
    const workloads = [...ctx.fleet.state.workloads.values()].filter(sendsByConfig)
    const read = workloads.filter(({ id }) => sight.sees(id))
    const headers = { [OUTSIDE_HEADER]: String(workloads.length - read.length) }
    return json(await listDestinations(ctx, read), 200, sight.scopes === null ? {} : headers)
  },
})
