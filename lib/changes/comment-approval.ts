import { toApprovalFrame } from '../hub/approval-frame.ts'
import { findApproval, lockApproval, touchApproval } from '../store/approvals.ts'
import { addComment, type CommentsFull } from './add-comment.ts'
import { type ApprovalActor, type ApprovalParts, readComment, recordStep } from './approval-parts.ts'
import type { CloseOutcome } from './close-approval.ts'

/** What came of commenting on a request. */
export type CommentOutcome = CloseOutcome | CommentsFull

/**
 * Comment on a request that is pending or approved, without deciding it. One that waits for approval does not end unheard until a
 * while after; what is approved ends when it would have, or whoever may only ask could keep it for good.
 */
export async function commentApproval(
  parts: ApprovalParts,
  said: { workloadId: string; approvalId: string; comment: string; actor: ApprovalActor },
): Promise<CommentOutcome> {
  const { workloadId, approvalId, actor } = said
  const comment = readComment(said.comment, { isRequired: true })
  if (!comment.ok) return comment
  if ((await findApproval(parts.db, workloadId, approvalId)) === null)
    return { ok: false, code: 'approval-not-found' }
  return parts.db.change<CommentOutcome>('approval.comment', actor, async (tx) => {
    const before = await lockApproval(tx, approvalId)
    if (before?.status !== 'pending' && before?.status !== 'approved')
      return { ok: false, code: 'approval-not-pending' }
    const now = parts.clock.now()
    const full = await addComment(tx, 'approval', approvalId, { actor, body: comment.text, now })
    if (full !== null) return full
    const approval = before.status === 'pending' ? await touchApproval(tx, approvalId, now) : before
    await recordStep(tx, 'config.approval.comment', approval)
    tx.afterCommit(() => parts.hub.broadcast(toApprovalFrame(approval)))
    return { ok: true, approval }
  })
}
