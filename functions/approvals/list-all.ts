import { array, optional, string, type } from 'superstruct'
import { type ApprovalSurroundings, toApprovalSummary } from '../../lib/changes/approval-record.ts'
import { type Approval, countApprovalsOutside, listApprovals } from '../../lib/store/approvals.ts'
import { ApprovalSummary } from '../../lib/wire/approvals.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { seenIds, seesWorkloads } from '../../runtime/reach.ts'
import { withSurroundings } from './_approval-of.ts'
import {
  approvalKey,
  approvalOrder,
  lookedAt,
  pageOf,
  readStatuses,
  unknownStatus,
} from './_approval-replies.ts'

/** The requests of all workloads without their drafts, the last changed first. */
export default defineHttp({
  route: 'GET /api/approvals',
  summary: 'List the config requests of all workloads, by status, without their drafts.',
  access: signedIn('config:request', 'filtered'),
  gate: 'config_safety.approvals',
  params: noParams,
  query: type({ ...pageQuery, status: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The requests.', json: array(ApprovalSummary) }],
  errors: [...PAGE_ERRORS, 'unsupported-status'],
  handle({ query, target, actor, sight }, ctx) {
    const statuses = readStatuses(query.status)
    if (statuses === null) return unknownStatus()
    // They hold comments: those of workloads outside of the caller's scope are counted only.
    const seen = seenIds(sight, ctx)
    const sees = seesWorkloads(sight)
    return listReply<{ approval: Approval; around: ApprovalSurroundings | null }>(query, target, {
      ...approvalOrder,
      async fetch(page) {
        const workloadIds = query.limit === undefined ? seen : null
        const found = await listApprovals(ctx.db, { workloadIds, statuses }, pageOf(page))
        const rows = found.approvals
        const shown = await withSurroundings(ctx, sees === null ? rows : rows.filter(sees), actor.userId)
        const around = new Map(shown.map((one) => [one.approval.id, one.around]))
        return lookedAt(
          found,
          rows.map((approval) => ({ approval, around: around.get(approval.id) ?? null })),
        )
      },
      isSeen: sees === null ? null : ({ approval }) => sees(approval),
      countOutside: seen === null ? null : () => countApprovalsOutside(ctx.db, seen, statuses),
      keyOf: approvalKey,
      toWire: ({ approval, around }) => toApprovalSummary(approval, around!),
    })
  },
})
