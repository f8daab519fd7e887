import type { AgentError, Push } from '../../store/pushes.ts'
import type { FleetNotices } from '../state/deps.ts'

/** Tell of an automatic rollback: `push` is the rollback (others are ignored), `error` how the former push failed. */
export function tellRolledBack(notices: FleetNotices, push: Push, error: AgentError | null): void {
  if (push.kind !== 'auto-rollback' || push.failedHash === null) return
  notices.autoRolledBack({
    workloadId: push.workloadId,
    fromHash: push.failedHash,
    toHash: push.hash,
    reason: error?.title ?? '',
    targetKind: push.rollbackTargetKind === 'last_known_good' ? 'last_known_good' : 'previous',
    pushId: push.pushId,
  })
}
