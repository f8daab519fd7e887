import { array } from 'superstruct'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { listRollouts } from '../../lib/store/rollouts.ts'
import { RolloutRecord } from '../../lib/wire/rollouts.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { workloadParams } from '../workloads/_workload-path.ts'
import { readRollout } from './_rollout-of.ts'

const SHOWN_MAX = 50

/** A workload's staged rollouts, newest first. */
export default defineHttp({
  route: 'GET /api/workloads/:id/config/canary',
  summary: 'The newest staged rollouts of a workload.',
  access: signedIn(null, 'workload'),
  gate: 'config_safety.canary_rollout',
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The rollouts.', json: array(RolloutRecord) }],
  errors: ['workload-not-found'],
  async handle({ params, actor }, ctx) {
    const texts = sightOf(actor.permissions)
    if (ctx.fleet.workload(params.id) === null) return problem('workload-not-found')
    const stored = await listRollouts(ctx.db, params.id, SHOWN_MAX)
    const records = await Promise.all(
      stored.map(({ id }) => readRollout(ctx, { id: params.id, canary_id: id }, texts)),
    )
    return json(records.filter((record) => record !== null))
  },
})
