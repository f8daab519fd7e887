import { reachedState } from '../fleet/views/revision.ts'
import type { Push } from '../store/pushes.ts'
import type { RollbackStatus } from '../wire/rollback.ts'
import { ROLLBACK_TIMEOUT_SECONDS } from './prepare-rollback.ts'
import type { RollbackRequestId } from './request-id.ts'

/** The status of a rollback. After 30 seconds without a result it is `unknown`; a later result is still shown. */
export function toRollbackStatus(
  push: Push,
  request: { id: RollbackRequestId; text: string },
  label: string,
  now: Date,
): RollbackStatus {
  const endedAt = push.failedAt ?? push.appliedAt
  const elapsedMs = Math.max(0, (endedAt ?? now).getTime() - push.submittedAt.getTime())
  const isReplaced = push.status === 'pending' && (push.phase === 'superseded' || push.phase === 'aborted')
  const isTimedOut = push.status === 'pending' && elapsedMs >= ROLLBACK_TIMEOUT_SECONDS * 1_000
  const applyStatus =
    push.status !== 'pending'
      ? push.status
      : isReplaced || isTimedOut
        ? 'unknown'
        : push.phase === 'applying'
          ? 'applying'
          : 'accepted'
  const isTerminal = push.status !== 'pending' || isReplaced || isTimedOut
  return {
    schema_version: 'guided-rollback-status.v1',
    request_id: request.text,
    workload_id: push.workloadId,
    target_hash: push.hash,
    ...(label === '' ? {} : { target_label: label }),
    target_status: push.status,
    target_applied_at: push.submittedAt.toISOString(),
    target_submitted_at: push.submittedAt.toISOString(),
    target_pushed_by: push.pushedBy,
    request_status: 'accepted',
    apply_status: applyStatus,
    terminal: isTerminal,
    ...(isTerminal ? { terminal_status: applyStatus } : {}),
    started_at: push.submittedAt.toISOString(),
    elapsed_ms: elapsedMs,
    timeout_seconds: ROLLBACK_TIMEOUT_SECONDS,
    timed_out: isTimedOut,
    last_known_status: reachedState(push),
  }
}
