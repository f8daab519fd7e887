import type { AuditFailure } from '../audit/delivery.ts'
import { type Approval, closeApproval, findApproval } from '../store/approvals.ts'
import {
  type ApprovalActor,
  type ApprovalParts,
  readComment,
  recordStep,
  type TextRefusal,
} from './approval-parts.ts'
import { toApprovalFrame } from './approval-record.ts'
import { tellOfRequest } from './news.ts'

/** What came of rejecting or withdrawing a request. */
export type CloseOutcome =
  | { ok: true; approval: Approval }
  | { ok: false; code: 'approval-not-found' | 'approval-not-pending' }
  | TextRefusal
  | AuditFailure

const NAMES = { rejected: 'approval.reject', withdrawn: 'approval.withdraw' } as const
const ACTIONS = { rejected: 'config.approval.reject', withdrawn: 'config.approval.withdraw' } as const

/** Reject or withdraw a request that was not pushed, approved or not. Rejecting one needs a comment. */
export async function endApproval(
  parts: ApprovalParts,
  end: {
    workloadId: string
    approvalId: string
    status: 'rejected' | 'withdrawn'
    comment: string
    actor: ApprovalActor
  },
): Promise<CloseOutcome> {
  const { workloadId, approvalId, status, actor } = end
  const comment = readComment(end.comment, { isRequired: status === 'rejected' })
  if (!comment.ok) return comment
  if ((await findApproval(parts.db, workloadId, approvalId)) === null)
    return { ok: false, code: 'approval-not-found' }
  return parts.db.change<CloseOutcome>(NAMES[status], actor, async (tx) => {
    const approval = await closeApproval(tx, {
      id: approvalId,
      status,
      actor: actor.email,
      actorId: actor.userId,
      comment: comment.text === '' ? null : comment.text,
      now: parts.clock.now(),
    })
    if (approval === null) return { ok: false, code: 'approval-not-pending' }
    if (status === 'rejected') await tellOfRequest(parts, tx, 'change_rejected', approval, actor)
    await recordStep(tx, ACTIONS[status], approval)
    tx.afterCommit(() => {
      parts.hub.broadcast(toApprovalFrame(approval))
      parts.counters.removeWaitingApproval(workloadId, approvalId)
    })
    return { ok: true, approval }
  })
}
