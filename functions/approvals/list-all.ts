import { array, optional, string, type } from 'superstruct'
import { toApprovalRecord } from '../../lib/changes/approval-record.ts'
import { listApprovals } from '../../lib/store/approvals.ts'
import { ApprovalRecord } from '../../lib/wire/approvals.ts'
import { APPROVAL_STATUSES } from '../../lib/wire/values.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, pageQuery } from '../../runtime/pagination.ts'
import { problem } from '../../runtime/reply.ts'
import { approvalKey, approvalOrder, readApprovalKey } from './approval-replies.ts'

/** The requests of all workloads, the last changed first. */
export default defineHttp({
  route: 'GET /api/approvals',
  summary: 'List the config requests of all workloads, by status.',
  access: signedIn('workload:push_config'),
  gate: 'config_safety.approvals',
  params: noParams,
  query: type({ ...pageQuery, status: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The requests.', json: array(ApprovalRecord) }],
  errors: ['bad-request'],
  handle({ query, target }, ctx) {
    const status = APPROVAL_STATUSES.find((known) => known === query.status) ?? null
    if (query.status !== undefined && status === null)
      return problem('bad-request', {
        error: `unsupported status; use one of ${APPROVAL_STATUSES.join(', ')}`,
      })
    return listReply(query, target, {
      ...approvalOrder,
      fetch: ({ after, limit }) =>
        listApprovals(ctx.db, { workloadId: null, status }, { after: readApprovalKey(after), limit }),
      keyOf: approvalKey,
      toWire: toApprovalRecord,
    })
  },
})
