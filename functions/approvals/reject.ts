import { endApproval } from '../../lib/changes/close-approval.ts'
import { ApprovalCommentRequest, ApprovalRecord } from '../../lib/wire/approvals.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { approvalParams, COMMENT_ERRORS } from './_approval-replies.ts'
import { replyToStep, stepOf } from './_approval-step.ts'

/** Reject a request that was not pushed, and say why. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/approvals/:approval_id/reject',
  summary: 'Reject a config request.',
  access: inPerson('config:approve', 'workload'),
  gate: 'config_safety.approvals',
  params: approvalParams,
  query: noQuery,
  body: jsonBody(ApprovalCommentRequest, { invalidText: 'invalid approval body' }),
  replies: [{ status: 200, description: 'The rejected request.', json: ApprovalRecord }],
  errors: [
    ...COMMENT_ERRORS,
    'feature-disabled',
    'approval-not-found',
    'approval-not-pending',
    'audit-unavailable',
  ],
  async handle(request, ctx) {
    return replyToStep(ctx, request.actor, await endApproval(ctx, { ...stepOf(request), status: 'rejected' }))
  },
})
