import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { RolloutRecord } from '../../lib/wire/rollouts.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { replyToOutcome, rolloutParams } from './_rollout-of.ts'

/** Close a rollout as it is: its members keep its config until the next push. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/canary/:canary_id/abort',
  summary: 'Abort a rollout.',
  access: signedIn('workload:push_config', 'workload'),
  gate: 'config_safety.canary_rollout',
  params: rolloutParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The rollout as it is now.', json: RolloutRecord }],
  errors: ['rollout-not-found', 'rollout-ended', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    const outcome = await ctx.fleet.rollouts.abort(params.id, params.canary_id, actor)
    return replyToOutcome(ctx, params, outcome, { status: 200, texts: sightOf(actor.permissions) })
  },
})
