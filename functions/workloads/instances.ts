import { array } from 'superstruct'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { LiveInstance } from '../../lib/wire/instances.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { streamArray } from '../../runtime/json-stream.ts'
import { jsonText, problem } from '../../runtime/reply.ts'
import { findWorkload, workloadParams } from './_workload-path.ts'

/** The live instances of a workload; none right after a start, until the agents are back. */
export default defineHttp({
  route: 'GET /api/workloads/:id/instances',
  summary: 'The live instances of a workload, by pod, connection time and uid.',
  access: signedIn(null, 'workload'),
  gate: null,
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The instances.', json: array(LiveInstance) }],
  errors: ['workload-not-found'],
  async handle({ params, actor }, ctx) {
    const workload = findWorkload(ctx, params.id)
    if (workload === null) return problem('workload-not-found')
    return jsonText(streamArray(await ctx.views.instances(workload, sightOf(actor.permissions))))
  },
})
