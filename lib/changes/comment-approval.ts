import { toApprovalFrame } from '../hub/approval-frame.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import {
  type CommentCount,
  countApprovalComments,
  findApproval,
  insertApprovalComment,
  lockApproval,
} from '../store/approvals.ts'
import { type ApprovalActor, type ApprovalParts, readComment, recordStep } from './approval-parts.ts'
import type { CloseOutcome } from './close-approval.ts'

/** Comments that one request, or campaign, can have; a longer discussion belongs elsewhere. */
const COMMENTS_MAX = 200
/** So many of them can be of one account, so that nobody, and no token, keeps the others from saying anything. */
const COMMENTS_OF_ONE_MAX = 50

/** Why there is no room for another comment. */
export type CommentsFull = Refusal<'comments-full' | 'comments-full-of-one'>

/** Why an account can say nothing more about a request, or campaign, that has so many comments; null where it can. */
export const refuseFull = ({ all, own }: CommentCount): CommentsFull | null =>
  all >= COMMENTS_MAX
    ? refuse('comments-full', { max: COMMENTS_MAX })
    : own >= COMMENTS_OF_ONE_MAX
      ? refuse('comments-full-of-one', { max: COMMENTS_OF_ONE_MAX })
      : null

/** What came of commenting on a request. */
export type CommentOutcome = CloseOutcome | CommentsFull

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
    const full = refuseFull(await countApprovalComments(tx, approvalId, actor.userId))
    if (full !== null) return full
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
