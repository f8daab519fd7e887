import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { WorkloadTopology } from '../../lib/wire/topology.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { streamObject } from '../../runtime/json-stream.ts'
import { jsonText, problem } from '../../runtime/reply.ts'
import { findWorkload, workloadParams } from './_workload-path.ts'

/** The instances of a workload, with what they have in common and where they differ. */
export default defineHttp({
  route: 'GET /api/workloads/:id/topology',
  summary: 'The live instances of a workload and a summary of them.',
  access: signedIn(null, 'workload'),
  gate: null,
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The topology.', json: WorkloadTopology }],
  errors: ['workload-not-found'],
  async handle({ params, actor }, ctx) {
    const workload = findWorkload(ctx, params.id)
    if (workload === null) return problem('workload-not-found')
    return jsonText(streamObject(await ctx.views.topology(workload, sightOf(actor.permissions))))
  },
})
