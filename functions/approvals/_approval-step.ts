import type { ApprovalActor } from '../../lib/changes/approval-parts.ts'
import type { Approval } from '../../lib/store/approvals.ts'
import type { Context } from '../../runtime/context.ts'
import { json, type Reply } from '../../runtime/reply.ts'
import { readApproval } from './_approval-of.ts'
import { type RefusedApproval, refuseApproval } from './_approval-replies.ts'

/** A step of a request as it comes in: which request, what is said about it, and by whom. */
export const stepOf = (request: {
  params: { id: string; approval_id: string }
  body: { comment: string }
  actor: ApprovalActor
}) => ({
  workloadId: request.params.id,
  approvalId: request.params.approval_id,
  comment: request.body.comment,
  actor: request.actor,
})

/** The reply to a step: the request as it is then, or why the step was not taken. */
export async function replyToStep(
  ctx: Context,
  { userId }: Pick<ApprovalActor, 'userId'>,
  outcome: { ok: true; approval: Approval } | RefusedApproval,
  status = 200,
): Promise<Reply> {
  return outcome.ok
    ? json(await readApproval(ctx, outcome.approval, userId), status)
    : refuseApproval(outcome)
}
