import type { AuditFailure } from '../audit/delivery.ts'
import type { Refusal } from '../model/refusal.ts'
import { type Approval, findApproval, markApproved } from '../store/approvals.ts'
import {
  type ApprovalActor,
  type ApprovalParts,
  checkDraft,
  type DraftRefusal,
  readComment,
  recordStep,
  type TextRefusal,
} from './approval-parts.ts'
import { toApprovalFrame } from './approval-record.ts'
import { refuseManaged } from './managed.ts'

export type ApproveOutcome =
  | { ok: true; approval: Approval }
  | { ok: false; code: 'workload-not-found' | 'approval-not-found' | 'approval-not-pending' }
  | Refusal<'managed-elsewhere'>
  | TextRefusal
  | DraftRefusal
  | AuditFailure

/** Approve a pending request. One's own may be approved as well; the record says so. */
export async function approveApproval(
  parts: ApprovalParts,
  request: { workloadId: string; approvalId: string; comment: string; actor: ApprovalActor },
): Promise<ApproveOutcome> {
  const { workloadId, approvalId, actor } = request
  const comment = readComment(request.comment, { isRequired: true })
  if (!comment.ok) return comment
  const target = await parts.configTargets.find(workloadId)
  if (target === null) return { ok: false, code: 'workload-not-found' }
  const found = await findApproval(parts.db, workloadId, approvalId)
  if (found === null) return { ok: false, code: 'approval-not-found' }
  if (found.status !== 'pending') return { ok: false, code: 'approval-not-pending' }
  const elsewhere = await refuseManaged(parts.db, found)
  if (elsewhere !== null) return elsewhere
  const checked = await checkDraft(parts, found.draftYaml, target)
  if (!checked.ok) return checked
  return parts.db.change<ApproveOutcome>('approval.approve', actor, async (tx) => {
    const approval = await markApproved(tx, {
      ...{ id: approvalId, approver: actor.email, approverId: actor.userId, comment: comment.text },
      now: parts.clock.now(),
    })
    if (approval === null) return { ok: false, code: 'approval-not-pending' }
    await recordStep(tx, 'config.approval.approve', approval)
    tx.afterCommit(() => {
      parts.hub.broadcast(toApprovalFrame(approval))
      parts.counters.approvalWaitsNoMore(workloadId, approvalId)
    })
    return { ok: true, approval }
  })
}
