import { recordAlongside } from '../audit/alongside.ts'
import type { AuditFailure } from '../audit/trail.ts'
import { type Approval, findApproval, markApproved } from '../store/approvals.ts'
import {
  type ApprovalActor,
  type ApprovalParts,
  checkDraft,
  type DraftRefusal,
  readComment,
  type TextRefusal,
} from './approval-parts.ts'
import { toApprovalFrame } from './approval-record.ts'

export type ApproveOutcome =
  | { ok: true; approval: Approval }
  | { ok: false; code: 'workload-not-found' | 'approval-not-found' | 'approval-not-pending' }
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
  const checked = await checkDraft(parts, found.draftYaml, target)
  if (!checked.ok) return checked
  return recordAlongside(parts.audit, async (record) => {
    const stored = await parts.db.transaction('approval.approve', async (tx) => {
      const approval = await markApproved(tx, {
        ...{ id: approvalId, approver: actor.email, approverId: actor.userId, comment: comment.text },
        now: parts.clock.now(),
      })
      if (approval === null) return null
      await record(tx, {
        ...{ action: 'config.approval.approve', actor, resource: 'workload', resourceId: workloadId },
        ...{ configHash: approval.draftHash, detail: approvalId },
      })
      return approval
    })
    if (stored === null) return { ok: false, code: 'approval-not-pending' } as const
    parts.hub.broadcast(toApprovalFrame(stored))
    parts.counters.approvalWaitsNoMore(workloadId, stored.id)
    return { ok: true, approval: stored } as const
  })
}
