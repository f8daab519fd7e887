import { approveApproval } from '../../lib/changes/approve-approval.ts'
import { ApprovalApproveRequest, ApprovalRecord } from '../../lib/wire/approvals.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { approvalParams, COMMENT_ERRORS } from './_approval-replies.ts'
import { replyToStep, stepOf } from './_approval-step.ts'

/** Approve a pending request. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/approvals/:approval_id/approve',
  summary: 'Approve a pending config request.',
  access: inPerson('config:approve', 'workload'),
  gate: 'config_safety.approvals',
  params: approvalParams,
  query: noQuery,
  body: jsonBody(ApprovalApproveRequest, { invalidText: 'invalid approval body' }),
  replies: [{ status: 200, description: 'The approved request.', json: ApprovalRecord }],
  errors: [
    ...COMMENT_ERRORS,
    'workload-not-found',
    'approval-not-found',
    'approval-not-pending',
    'approval-needs-another',
    'managed-elsewhere',
    'configuration-invalid',
    'server-busy',
    'audit-unavailable',
  ],
  async handle(request, ctx) {
    return replyToStep(ctx, request.actor, await approveApproval(ctx, stepOf(request)))
  },
})
