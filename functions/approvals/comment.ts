import { commentApproval } from '../../lib/changes/comment-approval.ts'
import { ApprovalCommentRequest, ApprovalRecord } from '../../lib/wire/approvals.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { approvalParams, COMMENT_ERRORS } from './_approval-replies.ts'
import { replyToStep, stepOf } from './_approval-step.ts'

/** Comment on a request that is pending or approved, without deciding it. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/approvals/:approval_id/comments',
  summary: 'Comment on a config request.',
  access: signedIn('config:request', 'workload'),
  gate: 'config_safety.approvals',
  params: approvalParams,
  query: noQuery,
  body: jsonBody(ApprovalCommentRequest, { invalidText: 'invalid approval body' }),
  replies: [{ status: 201, description: 'The request with its comment.', json: ApprovalRecord }],
  errors: [
    ...COMMENT_ERRORS,
    'comments-full',
    'comments-full-of-one',
    'feature-disabled',
    'approval-not-found',
    'approval-not-pending',
    'audit-unavailable',
  ],
  async handle(request, ctx) {
    return replyToStep(ctx, request.actor, await commentApproval(ctx, stepOf(request)), 201)
  },
})
