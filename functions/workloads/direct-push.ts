import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { problem } from '../../runtime/reply.ts'
import { workloadParams } from './_workload-path.ts'

/** The way past the approvals, which is closed for everyone. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config',
  summary: 'Always refused: configs are pushed through approvals.',
  access: signedIn('workload:push_config', 'workload'),
  gate: null,
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [],
  errors: ['config-approval-required'],
  handle: () => problem('config-approval-required'),
})
