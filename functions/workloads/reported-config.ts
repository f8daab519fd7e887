import { ReportedConfigRecord } from '../../lib/wire/instances.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { findWorkload, workloadParams } from './_workload-path.ts'

/** The config that a workload reports to run; the first config from muster is compared with it. */
export default defineHttp({
  route: 'GET /api/workloads/:id/config/reported',
  summary: 'The config that most live instances of a workload report to run, in normal form.',
  access: signedIn('config:read_content', 'workload'),
  gate: null,
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The config.', json: ReportedConfigRecord }],
  errors: ['workload-not-found', 'revision-not-found'],
  async handle({ params }, ctx) {
    const workload = findWorkload(ctx, params.id)
    if (workload === null) return problem('workload-not-found')
    const reported = await ctx.configTargets.reportedConfig(workload.id)
    if (reported === null) return problem('revision-not-found')
    return json({
      config_hash: reported.hash,
      content: reported.text,
      instance_count: reported.instanceCount,
      live_instance_count: reported.liveCount,
    })
  },
})
