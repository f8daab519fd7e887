import type { ActTransaction } from '../audit/database.ts'
import { HOLD_MS, HOLD_REASON_LENGTH_MAX } from '../fleet-configs/holds.ts'
import { storeHold } from '../store/holds.ts'
import type { ApprovalActor, ApprovalParts } from './approval-parts.ts'

/**
 * Whoever gives a workload under a fleet config something else, by a push or by going back, means it: campaigns and
 * what applies by itself leave it alone until somebody releases it. Inside the transaction of the push; does nothing
 * where no fleet config selects the workload. `reason` is cut to what a hold may say.
 */
export async function holdAfter(
  parts: Pick<ApprovalParts, 'clock' | 'fleet' | 'fleetConfigs'>,
  tx: ActTransaction,
  { workloadId, actor, reason }: { workloadId: string; actor: ApprovalActor; reason: string },
): Promise<void> {
  const workload = parts.fleet.workload(workloadId)
  if (workload === null || parts.fleetConfigs.membershipOf(workload).configId === null) return
  const now = parts.clock.now()
  const hold = {
    workloadId,
    reason: reason.slice(0, HOLD_REASON_LENGTH_MAX),
    heldBy: actor.email,
    heldById: actor.userId,
    heldAt: now,
    dueAt: new Date(now.getTime() + HOLD_MS),
  }
  await storeHold(tx, hold)
  tx.afterCommit(() => parts.fleetConfigs.noteHold(hold))
}
