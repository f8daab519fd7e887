import { refuseTexts } from '../../lib/changes/approval-parts.ts'
import { breakGlassForStages } from '../../lib/changes/broken-glass.ts'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { findApproval } from '../../lib/store/approvals.ts'
import { RolloutContinueRequest, RolloutRecord } from '../../lib/wire/rollouts.ts'
import type { Context } from '../../runtime/context.ts'
import { type Actor, defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { refuseWorkloads, unlessRefused } from '../../runtime/reach.ts'
import { problem, problemOf, type Reply } from '../../runtime/reply.ts'
import { replyToOutcome, rolloutParams } from './_rollout-of.ts'

/**
 * Go on with a halted rollout: the instances that its gate named do not count for this stage any more. A canary is
 * promoted. What would keep a push from beginning now refuses that too, unless a person breaks the glass.
 */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/canary/:canary_id/promote',
  summary: 'Continue a halted rollout.',
  access: signedIn('workload:push_config', 'workload'),
  gate: 'config_safety.canary_rollout',
  params: rolloutParams,
  query: noQuery,
  body: jsonBody(RolloutContinueRequest, {
    whenAbsent: { break_glass: false, break_glass_reason: '' },
    also: [{ when: 'break_glass', permission: 'config:break_glass', credential: 'session' }],
  }),
  replies: [{ status: 202, description: 'The rollout as it is now.', json: RolloutRecord }],
  errors: [
    'rollout-not-found',
    'rollout-not-halted',
    'rollout-ended',
    'rollout-not-approved',
    'rollout-on-hold',
    'rollout-stopped',
    'managed-elsewhere',
    'workload-archived',
    'workload-frozen',
    'break-glass-reason-required',
    'text-not-storable',
    'text-too-long',
    'session-required',
    'audit-unavailable',
  ],
  async handle({ params, body, actor }, ctx) {
    const reason = body.break_glass_reason.trim()
    const refusedText = refuseTexts({ break_glass_reason: reason })
    if (refusedText !== null) return problemOf(refusedText)
    if (body.break_glass && reason === '') return problem('break-glass-reason-required')
    const isForced = body.break_glass || (await hasBrokenGlass(ctx, params))
    const asking = isForced
      ? await unlessRefused(ctx, actor, (caller) => refuseBreaking(caller, ctx, params.id))
      : { ok: true as const, actor }
    if (!asking.ok) return asking.reply
    const outcome = await ctx.fleet.rollouts.continue(
      params.id,
      params.canary_id,
      asking.actor,
      body.break_glass ? (tx, push) => breakGlassForStages(ctx, tx, asking.actor, { push, reason }) : null,
    )
    return replyToOutcome(ctx, params, outcome, { status: 202, texts: sightOf(actor.permissions) })
  },
})

/** Whether the glass was broken for the push of a rollout. */
async function hasBrokenGlass(ctx: Context, params: { id: string; canary_id: string }): Promise<boolean> {
  const rollout = ctx.fleet.workload(params.id)?.rollout ?? null
  const approvalId = rollout?.stored.id === params.canary_id ? rollout.followed.push.approvalId : null
  if (approvalId === null) return false
  return (await findApproval(ctx.db, params.id, approvalId))?.breakGlass === true
}

/** The reply to whoever may not go on with what nobody approved: that is done in person, by who may break the glass. */
const refuseBreaking = (caller: Actor, ctx: Context, workloadId: string): Reply | null =>
  caller.apiToken === null
    ? refuseWorkloads(caller, 'config:break_glass', ctx, [workloadId])
    : problem('session-required')
