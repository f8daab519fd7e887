import { array, optional, string, type } from 'superstruct'
import { toApprovalRecord } from '../../lib/changes/approval-record.ts'
import { type ApprovalWithDraft, listApprovalsWithDrafts } from '../../lib/store/approvals.ts'
import { ApprovalRecord } from '../../lib/wire/approvals.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { problem } from '../../runtime/reply.ts'
import { workloadParams } from '../workloads/_workload-path.ts'
import { type ShownApproval, withSurroundings } from './_approval-of.ts'
import {
  approvalKey,
  approvalOrder,
  lookedAt,
  pageOf,
  readStatuses,
  unknownStatus,
} from './_approval-replies.ts'

/** The requests of a workload, the last changed first. They hold drafts: only for those who may request configs. */
export default defineHttp({
  route: 'GET /api/workloads/:id/config/approvals',
  summary: 'List the config requests of a workload. A page ends early where its drafts are large.',
  access: signedIn('config:request', 'workload'),
  gate: 'config_safety.approvals',
  params: workloadParams,
  query: type({ ...pageQuery, status: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The requests.', json: array(ApprovalRecord) }],
  errors: [...PAGE_ERRORS, 'unsupported-status', 'workload-not-found'],
  handle({ params, query, target, actor }, ctx) {
    if (ctx.fleet.workload(params.id) === null) return problem('workload-not-found')
    const statuses = readStatuses(query.status)
    if (statuses === null) return unknownStatus()
    const filter = { workloadIds: [params.id], statuses }
    return listReply<ShownApproval<ApprovalWithDraft>>(query, target, {
      ...approvalOrder,
      async fetch(page) {
        const found = await listApprovalsWithDrafts(ctx.db, filter, pageOf(page))
        return lookedAt(found, await withSurroundings(ctx, found.approvals, actor.userId))
      },
      keyOf: approvalKey,
      toWire: ({ approval, around }) => toApprovalRecord(approval, around),
    })
  },
})
