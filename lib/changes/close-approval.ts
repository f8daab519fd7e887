import { recordAlongside } from '../audit/alongside.ts'
import type { AuditFailure } from '../audit/trail.ts'
import { type Approval, closeApproval, findApproval } from '../store/approvals.ts'
import { type ApprovalActor, type ApprovalParts, readComment, type TextRefusal } from './approval-parts.ts'
import { toApprovalFrame } from './approval-record.ts'

export type CloseOutcome =
  | { ok: true; approval: Approval }
  | { ok: false; code: 'approval-not-found' | 'approval-not-pending' }
  | TextRefusal
  | AuditFailure

const NAMES = { rejected: 'approval.reject', withdrawn: 'approval.withdraw' } as const
const ACTIONS = { rejected: 'config.approval.reject', withdrawn: 'config.approval.withdraw' } as const

/** End a request that nobody has pushed, approved or not. Whoever rejects one says why. */
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
  return recordAlongside(parts.audit, async (record) => {
    const closed = await parts.db.transaction(NAMES[status], async (tx) => {
      const approval = await closeApproval(tx, {
        ...{ id: approvalId, status, actor: actor.email, actorId: actor.userId },
        ...{ comment: comment.text === '' ? null : comment.text, now: parts.clock.now() },
      })
      if (approval === null) return null
      await record(tx, {
        ...{ action: ACTIONS[status], actor, resource: 'workload', resourceId: workloadId },
        ...{ configHash: approval.draftHash, detail: approvalId },
      })
      return approval
    })
    if (closed === null) return { ok: false, code: 'approval-not-pending' } as const
    parts.hub.broadcast(toApprovalFrame(closed))
    parts.counters.approvalWaitsNoMore(workloadId, closed.id)
    return { ok: true, approval: closed } as const
  })
}
