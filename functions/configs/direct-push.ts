import { string, type } from 'superstruct'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { problem } from '../../runtime/reply.ts'

/** Configs reach agents through an approval only; this path says so. It reads and stores nothing. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config',
  summary: 'Always refused: configs are pushed through an approval.',
  access: signedIn('workload:push_config'),
  gate: null,
  params: type({ id: string() }),
  query: noQuery,
  body: noBody,
  replies: [],
  errors: ['config-approval-required'],
  handle() {
    return problem('config-approval-required')
  },
})
