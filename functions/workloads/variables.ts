import { listWorkloadVariables } from '../../lib/store/workload-variables.ts'
import { WorkloadVariables } from '../../lib/wire/fleet-configs.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { findWorkload, workloadParams } from './_workload-path.ts'

/** The values of variables that belong to one workload. */
export default defineHttp({
  route: 'GET /api/workloads/:id/variables',
  summary: "Read a workload's own values of variables.",
  access: signedIn('config:read_content', 'workload'),
  gate: 'config_safety.campaigns',
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The values.', json: WorkloadVariables }],
  errors: ['workload-not-found'],
  async handle({ params }, ctx) {
    if (findWorkload(ctx, params.id) === null) return problem('workload-not-found')
    const stored = (await listWorkloadVariables(ctx.db, [params.id])).get(params.id)
    return json({ workload_id: params.id, values: { ...stored?.values } } satisfies WorkloadVariables)
  },
})
