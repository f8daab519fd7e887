import type { ActTransaction } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { AuditEvent } from '../audit/event.ts'
import { toApprovalFrame } from '../hub/approval-frame.ts'
import { type Approval, closeApproval, findApproval } from '../store/approvals.ts'
import {
  type ApprovalActor,
  type ApprovalParts,
  readComment,
  type TextRefusal,
  toStepEvent,
} from './approval-parts.ts'
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
    const closed = await storeEnd(parts, tx, {
      approvalId,
      status,
      comment: comment.text,
      actor,
      now: parts.clock.now(),
    })
    if (closed === null) return { ok: false, code: 'approval-not-pending' }
    await tx.record(closed.event)
    return { ok: true, approval: closed.approval }
  })
}

/**
 * End a request in the transaction of a caller that records `event`; browsers are told after it. Null when it had an
 * end already.
 */
export async function storeEnd(
  parts: Pick<ApprovalParts, 'counters' | 'fleet' | 'hub' | 'news'>,
  tx: ActTransaction,
  end: {
    approvalId: string
    status: 'rejected' | 'withdrawn'
    comment: string
    actor: { email: string; userId: string | null }
    now: Date
  },
): Promise<{ approval: Approval; event: Omit<AuditEvent, 'actor'> } | null> {
  const { approvalId, status, comment, actor, now } = end
  const approval = await closeApproval(tx, {
    id: approvalId,
    status,
    actor: actor.email,
    actorId: actor.userId,
    comment: comment === '' ? null : comment,
    now,
  })
  if (approval === null) return null
  if (status === 'rejected') await tellOfRequest(parts, tx, 'change_rejected', approval, actor)
  tx.afterCommit(() => {
    parts.hub.broadcast(toApprovalFrame(approval))
    parts.counters.removeWaitingApproval(approval.workloadId, approvalId)
  })
  return { approval, event: toStepEvent(ACTIONS[status], approval) }
}

/** Withdraw requests, approved ones too, in the transaction of a caller that records what is returned. */
export async function withdrawAll(
  parts: Parameters<typeof storeEnd>[0],
  tx: ActTransaction,
  requests: readonly Approval[],
  { actor, comment, now }: { actor: ApprovalActor; comment: string; now: Date },
): Promise<Omit<AuditEvent, 'actor'>[]> {
  const events: Omit<AuditEvent, 'actor'>[] = []
  for (const { id: approvalId } of requests) {
    const ended = await storeEnd(parts, tx, { approvalId, status: 'withdrawn', comment, actor, now })
    if (ended !== null) events.push(ended.event)
  }
  return events
}
