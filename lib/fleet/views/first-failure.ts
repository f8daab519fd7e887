import type { AgentError, Push } from '../../store/pushes.ts'
import { firstFailure } from '../state/followed-push.ts'
import { followedOf } from '../state/state.ts'

/** When a target of a push failed first, and why; null where none has failed or the push is not followed any more. */
export function firstFailureOf(
  workload: Parameters<typeof followedOf>[0],
  push: Pick<Push, 'pushId'>,
): { endedAt: Date; error: AgentError | null } | null {
  const followed = followedOf(workload, push.pushId)
  return followed === null || followed.failedCount === 0 ? null : firstFailure(followed)
}
