import { pushApproval } from '../../lib/changes/push-approval.ts'
import { refuseStages, type StageRefusal } from '../../lib/fleet/decide/rollout.ts'
import { type Refusal, refuse } from '../../lib/model/refusal.ts'
import type { StagePlan } from '../../lib/store/rollouts.ts'
import { ApprovalPushRequest, ApprovalRecord } from '../../lib/wire/approvals.ts'
import type { RolloutStageRequest } from '../../lib/wire/rollouts.ts'
import { ROLLOUT_GATES } from '../../lib/wire/values.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { askAgain } from '../../runtime/reach.ts'
import { accepted, problem, problemOf } from '../../runtime/reply.ts'
import { readApproval } from './_approval-of.ts'
import { approvalParams, PUSH_ERRORS, refuseApproval } from './_approval-replies.ts'

const STAGES_GATE = 'config_safety.canary_rollout'

const STAGE_ERRORS = [
  'stage-count-invalid',
  'stage-dwell-invalid',
  'stage-not-larger',
  'stage-percentage-invalid',
  'stage-size-ambiguous',
  'stages-required',
  'stages-too-many',
] as const

/** Check the stages as they were asked for; a stage that names no gates gets all of them. */
function readStages(
  wanted: readonly RolloutStageRequest[],
): { ok: true; stages: StagePlan[] } | StageRefusal | Refusal<'stage-size-ambiguous'> {
  const stages: StagePlan[] = []
  for (const [index, { count, percentage, dwell_seconds, gates }] of wanted.entries()) {
    const rest = { dwellMs: dwell_seconds * 1_000, gates: gates ?? ROLLOUT_GATES }
    if (count !== undefined && percentage === undefined) stages.push({ count, ...rest })
    else if (count === undefined && percentage !== undefined) stages.push({ percentage, ...rest })
    else return refuse('stage-size-ambiguous', { index })
  }
  return refuseStages(stages) ?? { ok: true, stages }
}

/**
 * Push an approved request, or by breaking the glass a pending one, to every compatible instance, at once or in stages.
 */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/approvals/:approval_id/push',
  summary: 'Push an approved config, or with break-glass one that is not approved.',
  access: signedIn('workload:push_config', 'workload'),
  gate: 'config_safety.approvals',
  params: approvalParams,
  query: noQuery,
  body: jsonBody(ApprovalPushRequest, {
    invalidText: 'invalid approval push body',
    also: [{ when: 'break_glass', permission: 'config:break_glass', credential: 'session' }],
  }),
  replies: [{ status: 202, description: 'The pushed request.', json: ApprovalRecord }],
  errors: [
    ...PUSH_ERRORS,
    ...STAGE_ERRORS,
    'feature-disabled',
    'workload-not-found',
    'approval-not-found',
    'approval-already-pushed',
    'approval-required',
    'approval-needs-another',
    'approval-expired',
    'remote-config-unsupported',
    'workload-archived',
    'workload-frozen',
    'workload-not-connected',
    'stage-empty',
    'configuration-invalid',
    'config-policy-blocked',
    'server-busy',
    'audit-unavailable',
  ],
  async handle({ params, body, actor }, ctx) {
    const stages = body.stages === undefined ? null : readStages(body.stages)
    // Without the feature a push with stages is refused, rather than made to all instances at once.
    if (stages !== null && !ctx.edition.gates.has(STAGES_GATE))
      return problem('feature-disabled', { feature: STAGES_GATE })
    if (stages !== null && !stages.ok) return problemOf(stages)
    const outcome = await pushApproval(ctx, {
      workloadId: params.id,
      approvalId: params.approval_id,
      actor,
      comment: body.comment,
      prodDoubleConfirmed: body.prod_double_confirmed,
      breakGlass: body.break_glass,
      breakGlassReason: body.break_glass_reason,
      stages: stages === null ? null : stages.stages,
      stillMay: body.break_glass
        ? askAgain(actor, ctx, 'workload:push_config', 'config:break_glass')
        : askAgain(actor, ctx, 'workload:push_config'),
    })
    return outcome.ok
      ? accepted(await readApproval(ctx, outcome.approval, actor.userId))
      : refuseApproval(outcome)
  },
})
