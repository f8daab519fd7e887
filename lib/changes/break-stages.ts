import type { ActTransaction } from '../audit/database.ts'
import { lockApproval, markGlassBroken } from '../store/approvals.ts'
import type { Push } from '../store/pushes.ts'
import type { ApprovalActor, ApprovalParts } from './approval-parts.ts'
import { tellOfRequest } from './news.ts'
import { noteUnreviewed } from './reviews.ts'

/**
 * Note, in the transaction of a rollout that goes on past what held it, that somebody broke the glass for its further
 * stages: its config counts as unapproved until a second person has accepted that, and the webhook is told.
 */
export async function breakGlassForStages(
  parts: Pick<ApprovalParts, 'clock' | 'fleet' | 'hub' | 'news' | 'random'>,
  tx: ActTransaction,
  actor: ApprovalActor,
  { push, reason }: { push: Push; reason: string },
): Promise<void> {
  const { workloadId, hash: configHash, pushId, approvalId } = push
  await noteUnreviewed(parts, tx, actor, {
    kind: 'break_glass',
    workloadId,
    configHash,
    pushId,
    approvalId,
    reason,
  })
  const asked = approvalId === null ? null : await lockApproval(tx, approvalId)
  if (asked === null) return
  const approval = await markGlassBroken(tx, { id: asked.id, reason, now: parts.clock.now() })
  await tellOfRequest(parts, tx, 'glass_broken', approval, actor, reason)
  await tx.record({
    action: 'config.approval.break_glass_push',
    resource: 'workload',
    resourceId: workloadId,
    configHash,
    detail: `${asked.id}:${reason}:${configHash}`,
  })
}
