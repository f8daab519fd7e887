import { endApproval } from '../../lib/changes/close-approval.ts'
import { findApproval } from '../../lib/store/approvals.ts'
import { ApprovalCommentRequest, ApprovalRecord } from '../../lib/wire/approvals.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { refuseOthers } from '../../runtime/reach.ts'
import { approvalParams, COMMENT_ERRORS } from './_approval-replies.ts'
import { replyToStep, stepOf } from './_approval-step.ts'

/** Take back a request that was not pushed: by a token what its holder asked for, by a person anybody's. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/approvals/:approval_id/withdraw',
  summary: 'Withdraw a config request.',
  access: signedIn('config:request', 'workload'),
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
    'session-required',
    'audit-unavailable',
  ],
  async handle(request, ctx) {
    const { params, actor } = request
    const found = await findApproval(ctx.db, params.id, params.approval_id)
    const refused = found === null ? null : refuseOthers(actor, found.requesterId)
    if (refused !== null) return refused
    return replyToStep(ctx, actor, await endApproval(ctx, { ...stepOf(request), status: 'withdrawn' }))
  },
})
