import { judgeCanary } from '../../lib/changes/canary.ts'
import { pushApproval } from '../../lib/changes/push-approval.ts'
import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { configHash } from '../../lib/model/config-hash.ts'
import { findNewestApprovalOfDraft } from '../../lib/store/approvals.ts'
import { findRolloutOfPush } from '../../lib/store/rollouts.ts'
import { RolloutRecord } from '../../lib/wire/rollouts.ts'
import { defineHttp, noQuery, signedIn } from '../../runtime/define.ts'
import { askAgain } from '../../runtime/reach.ts'
import { accepted, problem } from '../../runtime/reply.ts'
import { PUSH_ERRORS, refuseApproval } from '../approvals/_approval-replies.ts'
import { workloadParams } from '../workloads/_workload-path.ts'
import { CANARY_ERRORS, refuseCanary, refuseToJudge } from './_canary-replies.ts'
import { canaryBody } from './_canary-request.ts'
import { readRollout } from './_rollout-of.ts'

/** Push the approved request with exactly this text to the chosen instances, and to the others once promoted. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/canary',
  summary: 'Start a canary of an approved config.',
  access: signedIn('workload:push_config', 'workload'),
  gate: 'config_safety.canary_rollout',
  params: workloadParams,
  query: noQuery,
  body: canaryBody,
  replies: [{ status: 202, description: 'The rollout.', json: RolloutRecord }],
  errors: [
    ...CANARY_ERRORS,
    ...PUSH_ERRORS,
    'config-empty',
    'workload-not-found',
    'approval-not-found',
    'approval-required',
    'approval-needs-another',
    'approval-expired',
    'workload-archived',
    'workload-frozen',
    'workload-not-connected',
    'stage-empty',
    'configuration-invalid',
    'config-policy-blocked',
    'server-busy',
    'audit-unavailable',
    'rollout-not-found',
  ],
  async handle({ params, body, actor }, ctx) {
    const { config, selection, comment } = body
    const verdict = await judgeCanary(ctx, { workloadId: params.id, config, selection })
    if (!verdict.ok) return refuseToJudge(verdict)
    if (verdict.stages === null) return refuseCanary(verdict)
    const approval = await findNewestApprovalOfDraft(ctx.db, params.id, configHash(config))
    if (approval?.status !== 'approved')
      return problem('approval-required', approval === null ? {} : { request_status: approval.status })
    const outcome = await pushApproval(ctx, {
      workloadId: params.id,
      approvalId: approval.id,
      actor,
      comment,
      stages: verdict.stages,
      prodDoubleConfirmed: body.prod_double_confirmed,
      breakGlass: false,
      breakGlassReason: '',
      stillMay: askAgain(actor, ctx, 'workload:push_config'),
    })
    if (!outcome.ok) return refuseApproval(outcome)
    const rollout = await findRolloutOfPush(ctx.db, outcome.approval.pushId ?? '')
    if (rollout === null) return problem('rollout-not-found')
    const started = { id: params.id, canary_id: rollout.id }
    const record = await readRollout(ctx, started, sightOf(actor.permissions))
    return record === null ? problem('rollout-not-found') : accepted(record)
  },
})
