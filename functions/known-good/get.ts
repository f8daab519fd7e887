import { toKnownGoodRecord } from '../../lib/changes/known-good.ts'
import { findKnownGood } from '../../lib/store/known-good.ts'
import { KnownGoodRecord } from '../../lib/wire/rollback.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { findWorkload, workloadParams } from '../workloads/_workload-path.ts'

/** The pinned config of a workload. */
export default defineHttp({
  route: 'GET /api/workloads/:id/known-good',
  summary: 'The config that failed pushes go back to.',
  access: signedIn(null, 'workload'),
  gate: 'config_safety.guided_rollback',
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The pin.', json: KnownGoodRecord }],
  errors: ['workload-not-found', 'known-good-not-found'],
  async handle({ params }, ctx) {
    if (findWorkload(ctx, params.id) === null) return problem('workload-not-found')
    const pin = await findKnownGood(ctx.db, params.id)
    return pin === null ? problem('known-good-not-found') : json(toKnownGoodRecord(pin))
  },
})
