import { findNotReturning } from '../../lib/changes/approved-as-now.ts'
import { noteUnreviewed } from '../../lib/changes/reviews.ts'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { RolloutRecord } from '../../lib/wire/rollouts.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { replyToOutcome, rolloutParams } from './_rollout-of.ts'

/** Take the members of a rollout back to the active config. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/canary/:canary_id/rollback',
  summary: 'Roll a rollout back.',
  access: signedIn('workload:push_config', 'workload'),
  gate: 'config_safety.canary_rollout',
  params: rolloutParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 202, description: 'The rollout as it is now.', json: RolloutRecord }],
  errors: [
    'approved-for-less',
    'rollout-not-found',
    'rollout-ended',
    'rollout-no-way-back',
    'audit-unavailable',
  ],
  async handle({ params, actor }, ctx) {
    const { id: workloadId, canary_id: rolloutId } = params
    const outcome = await ctx.fleet.rollouts.rollBack(workloadId, rolloutId, actor, {
      isRefused: async (tx, workload, hash) =>
        (await findNotReturning(ctx, tx, actor, [{ workload, hash }])) !== null,
      alongside: (tx, { pushId, hash }) =>
        noteUnreviewed(ctx, tx, actor, { kind: 'rollback', workloadId, configHash: hash, pushId }),
    })
    return replyToOutcome(ctx, params, outcome, { status: 202, texts: sightOf(actor.permissions) })
  },
})
