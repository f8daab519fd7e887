import type { ActTransaction } from '../audit/database.ts'
import { type Approval, lockApproval, markGlassBroken } from '../store/approvals.ts'
import type { Push } from '../store/pushes.ts'
import type { ApprovalActor, ApprovalParts } from './approval-parts.ts'
import { tellOfRequest } from './news.ts'
import { noteUnreviewed } from './reviews.ts'

/** Where the glass was broken and why. */
interface BrokenGlass {
  push: Pick<Push, 'workloadId' | 'hash' | 'pushId' | 'approvalId'>
  reason: string
}

/** List what broke the glass for a second person to review, and tell the webhook where a request was behind it. */
export async function tellOfBrokenGlass(
  parts: Pick<ApprovalParts, 'clock' | 'fleet' | 'hub' | 'news' | 'random'>,
  tx: ActTransaction,
  actor: ApprovalActor,
  { push, reason, approval }: BrokenGlass & { approval: Approval | null },
): Promise<void> {
  const { workloadId, hash: configHash, pushId, approvalId } = push
  const kind = 'break_glass'
  await noteUnreviewed(parts, tx, actor, { kind, workloadId, configHash, pushId, approvalId, reason })
  if (approval !== null) await tellOfRequest(parts, tx, 'glass_broken', approval, actor, reason)
}

/**
 * Note, in the transaction of a rollout that goes on past what held it, that somebody broke the glass for its further
 * stages: its config counts as unapproved until a second person has accepted that, and the webhook is told.
 */
export async function breakGlassForStages(
  parts: Pick<ApprovalParts, 'clock' | 'fleet' | 'hub' | 'news' | 'random'>,
  tx: ActTransaction,
  actor: ApprovalActor,
  { push, reason }: BrokenGlass,
): Promise<void> {
  const { workloadId, hash: configHash, approvalId } = push
  const asked = approvalId === null ? null : await lockApproval(tx, approvalId)
  const now = parts.clock.now()
  const approval = asked === null ? null : await markGlassBroken(tx, { id: asked.id, reason, now })
  await tellOfBrokenGlass(parts, tx, actor, { push, reason, approval })
  if (asked === null) return
  await tx.record({
    action: 'config.approval.break_glass_push',
    resource: 'workload',
    resourceId: workloadId,
    configHash,
    detail: `${asked.id}:${reason}:${configHash}`,
  })
}
