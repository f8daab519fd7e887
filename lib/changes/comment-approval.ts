import { toApprovalFrame } from '../hub/approval-frame.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import {
  countApprovalComments,
  findApproval,
  insertApprovalComment,
  lockApproval,
} from '../store/approvals.ts'
import { type ApprovalActor, type ApprovalParts, readComment, recordStep } from './approval-parts.ts'
import type { CloseOutcome } from './close-approval.ts'

/** Comments that one request can have; a longer discussion belongs elsewhere. */
export const COMMENTS_MAX = 200

/** What came of commenting on a request. */
export type CommentOutcome = CloseOutcome | Refusal<'comments-full'>

/** Comment on a request that is pending or approved, without deciding it. */
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
    const status = (await lockApproval(tx, approvalId))?.status
    if (status !== 'pending' && status !== 'approved') return { ok: false, code: 'approval-not-pending' }
    if ((await countApprovalComments(tx, approvalId)) >= COMMENTS_MAX)
      return refuse('comments-full', { max: COMMENTS_MAX })
    const approval = await insertApprovalComment(tx, {
      approvalId,
      author: actor.email,
      authorId: actor.userId,
      body: comment.text,
      now: parts.clock.now(),
    })
    await recordStep(tx, 'config.approval.comment', approval)
    tx.afterCommit(() => parts.hub.broadcast(toApprovalFrame(approval)))
    return { ok: true, approval }
  })
}
