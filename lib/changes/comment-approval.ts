import { recordAlongside } from '../audit/alongside.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import {
  countApprovalComments,
  findApproval,
  insertApprovalComment,
  lockApprovalStatus,
} from '../store/approvals.ts'
import { type ApprovalActor, type ApprovalParts, readComment } from './approval-parts.ts'
import { toApprovalFrame } from './approval-record.ts'
import type { CloseOutcome } from './close-approval.ts'

/** What one request may gather; a discussion of this length belongs elsewhere. */
export const COMMENTS_MAX = 200

export type CommentOutcome = CloseOutcome | Refusal<'comments-full'>

/** Say something about a request that has no end yet, as what should be changed first. */
export async function commentApproval(
  parts: ApprovalParts,
  said: { workloadId: string; approvalId: string; comment: string; actor: ApprovalActor },
): Promise<CommentOutcome> {
  const { workloadId, approvalId, actor } = said
  const comment = readComment(said.comment, { isRequired: true })
  if (!comment.ok) return comment
  if ((await findApproval(parts.db, workloadId, approvalId)) === null)
    return { ok: false, code: 'approval-not-found' }
  return recordAlongside(parts.audit, async (record) => {
    const outcome = await parts.db.transaction('approval.comment', async (tx) => {
      const status = await lockApprovalStatus(tx, approvalId)
      if (status !== 'pending' && status !== 'approved') return 'ended' as const
      if ((await countApprovalComments(tx, approvalId)) >= COMMENTS_MAX) return 'full' as const
      const approval = await insertApprovalComment(tx, {
        ...{ approvalId, author: actor.email, authorId: actor.userId, body: comment.text },
        now: parts.clock.now(),
      })
      await record(tx, {
        ...{ action: 'config.approval.comment', actor, resource: 'workload', resourceId: workloadId },
        ...{ configHash: approval.draftHash, detail: approvalId },
      })
      return approval
    })
    if (outcome === 'ended') return { ok: false, code: 'approval-not-pending' } as const
    if (outcome === 'full') return refuse('comments-full', { max: COMMENTS_MAX })
    parts.hub.broadcast(toApprovalFrame(outcome))
    return { ok: true, approval: outcome } as const
  })
}
