import { commentApproval } from '../../lib/changes/comment-approval.ts'
import { ApprovalCommentRequest, ApprovalRecord } from '../../lib/wire/approvals.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { created } from '../../runtime/reply.ts'
import { readApproval } from './approval-of.ts'
import { approvalParams, COMMENT_ERRORS, refuseApproval } from './approval-replies.ts'

/** Say something about a request that waits, as what should be changed first. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/approvals/:approval_id/comments',
  summary: 'Comment on a config request.',
  access: signedIn('workload:push_config'),
  gate: 'config_safety.approvals',
  params: approvalParams,
  query: noQuery,
  body: jsonBody(ApprovalCommentRequest, { invalidText: 'invalid approval body' }),
  replies: [{ status: 201, description: 'The request with its comment.', json: ApprovalRecord }],
  errors: [
    ...COMMENT_ERRORS,
    'comments-full',
    'feature-disabled',
    'approval-not-found',
    'approval-not-pending',
    'audit-unavailable',
  ],
  async handle({ params, body, actor }, ctx) {
    const about = { workloadId: params.id, approvalId: params.approval_id, comment: body.comment, actor }
    const outcome = await commentApproval(ctx, about)
    return outcome.ok ? created(await readApproval(ctx, outcome.approval)) : refuseApproval(outcome)
  },
})
