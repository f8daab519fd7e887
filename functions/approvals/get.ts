import { findApproval } from '../../lib/store/approvals.ts'
import { ApprovalRecord } from '../../lib/wire/approvals.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { readApprovalWithHelp } from './_approval-of.ts'
import { approvalParams } from './_approval-replies.ts'

/** One request, whatever became of it, with everything that was said. */
export default defineHttp({
  route: 'GET /api/workloads/:id/config/approvals/:approval_id',
  summary: 'One config request.',
  access: signedIn('config:request', 'workload'),
  gate: 'config_safety.approvals',
  params: approvalParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The request.', json: ApprovalRecord }],
  errors: ['feature-disabled', 'approval-not-found'],
  async handle({ params, actor }, ctx) {
    const approval = await findApproval(ctx.db, params.id, params.approval_id)
    return approval === null
      ? problem('approval-not-found')
      : json(await readApprovalWithHelp(ctx, approval, actor))
  },
})
