import { array, boolean, defaulted, optional, string, type, unknown } from 'superstruct'
import { toApprovalRecord } from '../../lib/approvals/approval-record.ts'
import { pushApproval } from '../../lib/approvals/push-approval.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { accepted, problem } from '../../runtime/reply.ts'
import { approvalParams, refuseApproval } from './approval-replies.ts'

const Body = type({
  comment: defaulted(string(), ''),
  prod_double_confirmed: defaulted(boolean(), false),
  break_glass: defaulted(boolean(), false),
  break_glass_reason: defaulted(string(), ''),
  stages: optional(array(unknown())),
})

/** Push an approved request to every compatible instance. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/approvals/:approval_id/push',
  summary: 'Push an approved config, or with break-glass one that is not approved.',
  access: signedIn('workload:push_config'),
  gate: 'config_safety.approvals',
  params: approvalParams,
  query: noQuery,
  body: jsonBody(Body, { invalidText: 'invalid approval push body' }),
  replies: [{ status: 202, description: 'The pushed request.', contentType: 'application/json' }],
  errors: [
    'bad-request',
    'feature-disabled',
    'workload-not-found',
    'approval-not-found',
    'approval-already-pushed',
    'approval-required',
    'remote-config-unsupported',
    'workload-not-connected',
    'configuration-invalid',
    'config-policy-blocked',
    'server-busy',
    'audit-unavailable',
  ],
  async handle({ params, body, actor }, ctx) {
    // Whoever asks for stages must not get the whole fleet at once.
    if (body.stages !== undefined)
      return problem('feature-disabled', { feature: 'config_safety.canary_rollout' })
    const outcome = await pushApproval(ctx, {
      ...{ workloadId: params.id, approvalId: params.approval_id, actor, comment: body.comment },
      prodDoubleConfirmed: body.prod_double_confirmed,
      breakGlass: body.break_glass,
      breakGlassReason: body.break_glass_reason,
    })
    return outcome.ok ? accepted(toApprovalRecord(outcome.approval)) : refuseApproval(outcome)
  },
})
