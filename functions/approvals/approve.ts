import { approveApproval } from '../../lib/changes/approve-approval.ts'
import { ApprovalApproveRequest, ApprovalRecord } from '../../lib/wire/approvals.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { readApproval } from './approval-of.ts'
import { approvalParams, COMMENT_ERRORS, refuseApproval } from './approval-replies.ts'

/** Approve a pending request. */
export default defineHttp({
  route: 'POST /api/workloads/:id/config/approvals/:approval_id/approve',
  summary: 'Approve a pending config request.',
  access: inPerson('workload:push_config'),
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
    'managed-elsewhere',
    'configuration-invalid',
    'server-busy',
    'audit-unavailable',
  ],
  async handle({ params, body, actor }, ctx) {
    const request = { workloadId: params.id, approvalId: params.approval_id, comment: body.comment, actor }
    const outcome = await approveApproval(ctx, request)
    return outcome.ok ? json(await readApproval(ctx, outcome.approval)) : refuseApproval(outcome)
  },
})
