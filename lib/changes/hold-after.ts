import type { ActTransaction } from '../audit/database.ts'
import { HOLD_MS, HOLD_REASON_LENGTH_MAX } from '../fleet-configs/holds.ts'
import { storeHold } from '../store/holds.ts'
import type { ApprovalActor, ApprovalParts } from './approval-parts.ts'

/**
 * Hold a workload that somebody pushed to or rolled back by hand, in the transaction of that push: whoever gives a
 * workload under a fleet config another config means it, so campaigns and versions that apply by themselves leave it
 * alone until somebody releases it. Does nothing where the workload is under no fleet config. `reason` is cut to what a
 * hold may have.
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
