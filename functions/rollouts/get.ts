import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { RolloutRecord } from '../../lib/wire/rollouts.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { readRollout, rolloutParams } from './_rollout-of.ts'

/** One staged rollout: its stages, its members, and why it halted. Reading changes nothing. */
export default defineHttp({
  route: 'GET /api/workloads/:id/config/canary/:canary_id',
  summary: 'One staged rollout.',
  access: signedIn(null, 'workload'),
  gate: 'config_safety.canary_rollout',
  params: rolloutParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The rollout.', json: RolloutRecord }],
  errors: ['rollout-not-found'],
  async handle({ params, actor }, ctx) {
    const record = await readRollout(ctx, params, sightOf(actor.permissions))
    return record === null ? problem('rollout-not-found') : json(record)
  },
})
