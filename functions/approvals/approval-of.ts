import { type ApprovalSurroundings, toApprovalRecord } from '../../lib/changes/approval-record.ts'
import { type Approval, listApprovalComments } from '../../lib/store/approvals.ts'
import { listPushesById, listRollbacksOf } from '../../lib/store/pushes.ts'
import type { ApprovalRecord } from '../../lib/wire/approvals.ts'
import type { Context } from '../../runtime/context.ts'
import { currentStateOf } from '../workloads/push-targets-of.ts'

/** A request with what stands around it in its record. */
export interface ShownApproval {
  approval: Approval
  around: ApprovalSurroundings
}

/** Requests with what was said about them and what became of them, in their order. */
export async function withSurroundings(
  ctx: Context,
  approvals: readonly Approval[],
): Promise<ShownApproval[]> {
  const ids = approvals.map(({ id }) => id)
  const comments = ids.length === 0 ? [] : await listApprovalComments(ctx.db, ids)
  const pushIds = approvals.flatMap(({ pushId }) => pushId ?? [])
  const pushes = new Map(
    (pushIds.length === 0 ? [] : await listPushesById(ctx.db, pushIds)).map((push) => [push.pushId, push]),
  )
  const failedIds = [...pushes.values()].flatMap((push) => (push.status === 'failed' ? push.pushId : []))
  const answers = failedIds.length === 0 ? null : await listRollbacksOf(ctx.db, failedIds)
  return approvals.map((approval) => {
    const workload = ctx.fleet.workload(approval.workloadId)
    const stored = pushes.get(approval.pushId ?? '') ?? null
    const push = stored === null || workload === null ? stored : currentStateOf(workload, stored)
    const answer = push === null ? null : (answers?.get(push.pushId) ?? null)
    return {
      approval,
      around: {
        comments: comments.filter(({ approvalId }) => approvalId === approval.id),
        push,
        aftermath: push === null || workload === null ? null : ctx.views.aftermath(workload, push, answer),
      },
    }
  })
}

/** One request as the wire shows it. */
export async function readApproval(ctx: Context, approval: Approval): Promise<ApprovalRecord> {
  const [found] = await withSurroundings(ctx, [approval])
  return toApprovalRecord(approval, found!.around)
}
