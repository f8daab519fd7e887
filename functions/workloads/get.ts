import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { WorkloadRecord } from '../../lib/wire/workloads.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { findWorkload, workloadParams } from './_workload-path.ts'

/** One workload, archived ones included. */
export default defineHttp({
  route: 'GET /api/workloads/:id',
  summary: 'One workload.',
  access: signedIn(null, 'workload'),
  gate: null,
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The workload.', json: WorkloadRecord }],
  errors: ['workload-not-found'],
  handle({ params, actor }, ctx) {
    const workload = findWorkload(ctx, params.id)
    if (workload === null) return problem('workload-not-found')
    return json(ctx.views.workload(workload, sightOf(actor.permissions)))
  },
})
