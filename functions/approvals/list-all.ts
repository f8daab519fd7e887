import { array, optional, string, type } from 'superstruct'
import { toApprovalRecord } from '../../lib/changes/approval-record.ts'
import { listApprovals } from '../../lib/store/approvals.ts'
import { ApprovalRecord } from '../../lib/wire/approvals.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { holdsOn } from '../../runtime/reach.ts'
import { withSurroundings } from './_approval-of.ts'
import {
  approvalKey,
  approvalOrder,
  readApprovalKey,
  readStatuses,
  unknownStatus,
} from './_approval-replies.ts'

/** The requests of all workloads, the last changed first. */
export default defineHttp({
  route: 'GET /api/approvals',
  summary: 'List the config requests of all workloads, by status.',
  access: signedIn('config:request', 'filtered'),
  gate: 'config_safety.approvals',
  params: noParams,
  query: type({ ...pageQuery, status: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The requests.', json: array(ApprovalRecord) }],
  errors: [...PAGE_ERRORS, 'unsupported-status'],
  handle({ query, target, actor }, ctx) {
    const statuses = readStatuses(query.status)
    if (statuses === null) return unknownStatus()
    // They hold drafts: those of workloads outside of the caller's scope are left out.
    const workloadIds = actor.permissions.has('config:request')
      ? null
      : [...ctx.fleet.state.workloads.keys()].filter((id) => holdsOn(actor, 'config:request', ctx, id))
    return listReply(query, target, {
      ...approvalOrder,
      async fetch({ after, limit }) {
        const filter = { workloadIds, statuses }
        return withSurroundings(
          ctx,
          await listApprovals(ctx.db, filter, { after: readApprovalKey(after), limit }),
          actor.userId,
        )
      },
      keyOf: approvalKey,
      toWire: ({ approval, around }) => toApprovalRecord(approval, around),
    })
  },
})
