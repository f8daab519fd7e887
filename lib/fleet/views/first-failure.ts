import type { FailureCause, Push } from '../../store/pushes.ts'
import { followedOf } from '../state/state.ts'

/** When a target of a push failed first, and why; null where none has failed. */
export function firstFailureOf(
  workload: Parameters<typeof followedOf>[0],
  push: Pick<Push, 'pushId'>,
): { endedAt: Date; error: FailureCause | null } | null {
  let first: { endedAt: Date; error: FailureCause | null } | null = null
  const followed = followedOf(workload, push.pushId)
  if (followed === null || followed.failedCount === 0) return null
  for (const { state, endedAt, error } of followed.targets.values())
    if (state === 'failed' && endedAt !== null && (first === null || endedAt < first.endedAt))
      first = { endedAt, error }
  return first
}
