import { defaulted, string, type } from 'superstruct'
import { decodeRequestId } from '../../lib/changes/request-id.ts'
import { toRollbackStatus } from '../../lib/changes/rollback-status.ts'
import { followedOf } from '../../lib/fleet/state/state.ts'
import { findPush } from '../../lib/store/pushes.ts'
import { RollbackStatus } from '../../lib/wire/rollback.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { findWorkload, workloadParams } from '../workloads/_workload-path.ts'

/** The status of a rollback. It holds no YAML and no text of an agent. */
export default defineHttp({
  route: 'GET /api/workloads/:id/rollback/status',
  summary: 'How a rollback stands.',
  access: signedIn(null, 'workload'),
  gate: 'config_safety.guided_rollback',
  params: workloadParams,
  query: type({ request_id: defaulted(string(), '') }),
  body: noBody,
  replies: [{ status: 200, description: 'The status.', json: RollbackStatus }],
  errors: ['invalid-rollback-request', 'workload-not-found', 'target-not-found'],
  async handle({ params, query }, ctx) {
    const workload = findWorkload(ctx, params.id)
    if (workload === null) return problem('workload-not-found')
    const id = decodeRequestId(query.request_id)
    if (id === null || id.workloadId !== workload.id)
      return problem('invalid-rollback-request', { error: 'invalid request_id', retryable: false })
    const stored = await findPush(ctx.db, id.pushId)
    if (stored === null || stored.workloadId !== workload.id || stored.hash !== id.targetHash)
      return problem('target-not-found', { retryable: false })
    const push = followedOf(workload, stored.pushId)?.push ?? stored
    const label = ctx.counters.label(workload.id, push.hash)
    return json(toRollbackStatus(push, { id, text: query.request_id }, label, ctx.clock.now()))
  },
})
