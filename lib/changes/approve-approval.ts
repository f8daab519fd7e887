import type { AuditFailure } from '../audit/delivery.ts'
import { toRetireEvent } from '../fleet/pushes/overtaken-requests.ts'
import { toApprovalFrame } from '../hub/approval-frame.ts'
import { gitOwnerOf } from '../model/git-group.ts'
import type { Refusal } from '../model/refusal.ts'
import { upsertApprovalVote } from '../store/approval-votes.ts'
import {
  type Approval,
  findApproval,
  lockApproval,
  markApproved,
  retireOlderApproved,
  touchApproval,
} from '../store/approvals.ts'
import type { Db } from '../store/db.ts'
import { lockOwner } from '../store/git-owners.ts'
import { lockWorkload } from '../store/workloads.ts'
import { listBecause } from './approval-help.ts'
import {
  type ApprovalActor,
  type ApprovalParts,
  checkDraft,
  type DraftRefusal,
  readComment,
  recordStep,
  type TextRefusal,
} from './approval-parts.ts'
import { type ApprovalStanding, readStanding } from './approval-standing.ts'
import { refuseDiscounted, whyNotCounted } from './judge-approvals.ts'
import { acceptOwner, refuseManaged } from './managed.ts'
import { tellOfRequest } from './news.ts'

/** What came of approving a request. */
export type ApproveOutcome =
  | { ok: true; approval: Approval }
  | { ok: false; code: 'workload-not-found' | 'approval-not-found' | 'approval-not-pending' }
  | Refusal<'approval-needs-another' | 'managed-elsewhere'>
  | TextRefusal
  | DraftRefusal
  | AuditFailure

/** Approve a request; it stays pending until as many people have approved it as the policy asks for. */
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
  if (!mayTakeApproval(found)) return { ok: false, code: 'approval-not-pending' }
  const elsewhere = await refuseManaged(parts.db, found)
  if (elsewhere !== null) return elsewhere
  const checked = await checkDraft(parts, found.draftYaml, target)
  if (!checked.ok) return checked
  return parts.db.change<ApproveOutcome>('approval.approve', actor, async (tx) => {
    if (!(await takeTurn(tx, found))) return { ok: false, code: 'workload-not-found' }
    const locked = await lockApproval(tx, approvalId)
    if (locked === null || !mayTakeApproval(locked)) return { ok: false, code: 'approval-not-pending' }
    const now = parts.clock.now()
    const before = await readStanding(tx, locked, target, now, [actor.userId])
    // An approved request may have lost an approval since: it got too old, or its approver lost the right.
    if (locked.status === 'approved' && before.judgement.isEnough)
      return { ok: false, code: 'approval-not-pending' }
    const refusal = await refuseApprover(tx, locked, before, actor)
    if (refusal !== null) return refusal
    await upsertApprovalVote(tx, {
      approvalId,
      userId: actor.userId,
      email: actor.email,
      comment: comment.text,
      at: now,
      rule: before.asked.rule,
      soleApprover: before.asked.isSoleApprover,
    })
    const { judgement } = await readStanding(tx, locked, target, now)
    const approver = { approver: actor.email, approverId: actor.userId, comment: comment.text }
    const approval = judgement.isEnough
      ? await markApproved(tx, { id: approvalId, ...approver, now })
      : await touchApproval(tx, approvalId, now)
    const overtaken = judgement.isEnough ? await acceptOwner(tx, locked) : null
    if (overtaken !== null) return overtaken
    const by = { actor: actor.email, actorId: actor.userId, now }
    const retired = judgement.isEnough ? await retireOlderApproved(tx, approval, by) : []
    const why = { retired_by: 'request', newer_approval_id: approvalId } as const
    tx.recordBehind(retired.map((one) => toRetireEvent(one, why)))
    await tellOfRequest(parts, tx, 'change_approved', approval, actor)
    await recordStep(tx, 'config.approval.approve', approval)
    tx.afterCommit(() => {
      for (const one of [...retired, approval]) parts.hub.broadcast(toApprovalFrame(one))
      if (judgement.isEnough) parts.counters.removeWaitingApproval(workloadId, approvalId)
    })
    return { ok: true, approval }
  })
}

/**
 * Make those who approve what an owner in Git asks for take turns with whoever asks there; false when the workload is gone.
 * Its wish may move to what keeps others out: whoever writes that has locked the workload first, as here.
 */
async function takeTurn(tx: Db, { workloadId, targetGroup }: Approval): Promise<boolean> {
  const owner = gitOwnerOf(targetGroup)
  if (owner === null) return true
  if ((await lockWorkload(tx, workloadId)) === null) return false
  await lockOwner(tx, owner)
  return true
}

const mayTakeApproval = ({ status }: Approval): boolean => status === 'pending' || status === 'approved'

/** Refuse an approver whose approval would not count, or counts already; null where it would count. */
async function refuseApprover(
  db: Db,
  approval: Approval,
  standing: ApprovalStanding,
  { userId }: ApprovalActor,
): Promise<Refusal<'approval-needs-another'> | null> {
  const why = whyNotCounted(standing, userId)
  if (why === null) return null
  const change = { ...standing, requestedAt: approval.createdAt, text: approval }
  // Which other requests they made is for the page, which knows what the reader may see.
  return refuseDiscounted(why, await listBecause(db, change, { userId, sees: () => false }))
}
