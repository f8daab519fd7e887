import { array, type } from 'superstruct'
import { toApprovalRecord } from '../../lib/changes/approval-record.ts'
import { listApprovals } from '../../lib/store/approvals.ts'
import { ApprovalRecord } from '../../lib/wire/approvals.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { listReply, pageQuery } from '../../runtime/pagination.ts'
import { problem } from '../../runtime/reply.ts'
import { workloadParams } from '../workloads/workload-path.ts'
import { approvalKey, approvalOrder, readApprovalKey } from './approval-replies.ts'

/** The requests of a workload, the last changed first. They hold drafts: only for those who may push. */
export default defineHttp({
  route: 'GET /api/workloads/:id/config/approvals',
  summary: 'List the config requests of a workload.',
  access: signedIn('workload:push_config'),
  gate: 'config_safety.approvals',
  params: workloadParams,
  query: type(pageQuery),
  body: noBody,
  replies: [{ status: 200, description: 'The requests.', json: array(ApprovalRecord) }],
  errors: ['bad-request', 'workload-not-found'],
  handle({ params, query, target }, ctx) {
    if (ctx.fleet.workload(params.id) === null) return problem('workload-not-found')
    const filter = { workloadId: params.id, status: null }
    return listReply(query, target, {
      ...approvalOrder,
      fetch: ({ after, limit }) => listApprovals(ctx.db, filter, { after: readApprovalKey(after), limit }),
      keyOf: approvalKey,
      toWire: toApprovalRecord,
    })
  },
})
