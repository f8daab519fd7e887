import type { Push } from '../../store/pushes.ts'
import type { UnderPush } from '../../wire/workloads.ts'
import { DOING_MS } from '../state/followed-push.ts'
import type { FollowedPush, Instance } from '../state/model.ts'
import { assignmentOf } from '../state/state.ts'

/**
 * The push since which these instances are unhealthy; null where that cannot be said. It can where all instances were
 * healthy when it was made, these run its config by it and became unhealthy after they were offered it, each soon after it
 * had applied it: a trouble of later, of before or of an instance that joined has other reasons.
 */
export function findPushBefore(unhealthy: readonly Instance[]): Push | null {
  let brought: FollowedPush | null = null
  for (const instance of unhealthy) {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    const { unhealthySince: since, report } = instance
    if (followed === null || target === undefined || since === null) return null
    if (!followed.startedWell || (brought !== null && brought !== followed)) return null
    if (target.isJoiner || target.endedAt === null || since < target.offeredAt) return null
    if (report?.status !== 'applied' || report.hash !== followed.push.hash) return null
    if (since.getTime() - target.endedAt.getTime() >= DOING_MS) return null
    brought = followed
  }
  return brought?.push ?? null
}

/** The same as the wire shows it, as a field of what is the matter. */
export function underPush(unhealthy: readonly Instance[]): { under_push?: UnderPush } {
  const push = findPushBefore(unhealthy)
  if (push === null) return {}
  const { pushId, hash, submittedAt, pushedBy } = push
  return {
    under_push: {
      push_id: pushId,
      config_hash: hash,
      submitted_at: submittedAt.toISOString(),
      pushed_by: pushedBy,
    },
  }
}
