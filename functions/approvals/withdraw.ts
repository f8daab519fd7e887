import { endApproval } from '../../lib/changes/close-approval.ts'
import { ApprovalCommentRequest, ApprovalRecord } from '../../lib/wire/approvals.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { readApproval } from './approval-of.ts'
import { approvalParams, COMMENT_ERRORS, refuseApproval } from './approval-replies.ts'

/** Take back a request that was not pushed. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/approvals/:approval_id/withdraw',
  summary: 'Withdraw a config request.',
  access: signedIn('workload:push_config'),
  gate: 'config_safety.approvals',
  params: approvalParams,
  query: noQuery,
  body: jsonBody(ApprovalCommentRequest, { invalidText: 'invalid approval body' }),
  replies: [{ status: 200, description: 'The withdrawn request.', json: ApprovalRecord }],
  errors: [
    ...COMMENT_ERRORS,
    'feature-disabled',
    'approval-not-found',
    'approval-not-pending',
    'audit-unavailable',
  ],
  async handle({ params, body, actor }, ctx) {
    const about = { workloadId: params.id, approvalId: params.approval_id, comment: body.comment, actor }
    const outcome = await endApproval(ctx, { ...about, status: 'withdrawn' })
    return outcome.ok ? json(await readApproval(ctx, outcome.approval)) : refuseApproval(outcome)
  },
})
