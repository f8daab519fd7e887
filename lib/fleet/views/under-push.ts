import type { Push } from '../../store/pushes.ts'
import type { UnderPush } from '../../wire/workloads.ts'
import { DOING_MS } from '../decide/losses.ts'
import type { FollowedPush, Instance } from '../state/model.ts'
import { assignmentOf } from '../state/state.ts'

/** A push, and how many instances are unhealthy since it. */
export interface SincePush {
  push: Push
  count: number
}

/**
 * The push since which an instance is unhealthy; null where that cannot be said. It can where all instances were healthy
 * when it was made, this one runs its config by it and became unhealthy after it was offered it, soon after it had
 * applied it: a trouble of later, of before or of an instance that joined has other reasons.
 */
function pushBefore(instance: Instance): FollowedPush | null {
  const followed = assignmentOf(instance)
  const target = followed?.targets.get(instance.uid)
  const { unhealthySince: since, report } = instance
  if (followed === null || target === undefined || since === null || !followed.push.startedWell) return null
  if (target.isJoiner || target.endedAt === null || since < target.offeredAt) return null
  if (report?.status !== 'applied' || report.hash !== followed.push.hash) return null
  return since.getTime() - target.endedAt.getTime() < DOING_MS ? followed : null
}

/** The newest push since which some of these instances are unhealthy, and how many of them are; null where there is none. */
export function findPushBefore(unhealthy: readonly Instance[]): SincePush | null {
  const counts = new Map<FollowedPush, number>()
  for (const instance of unhealthy) {
    const followed = pushBefore(instance)
    if (followed !== null) counts.set(followed, (counts.get(followed) ?? 0) + 1)
  }
  let newest: SincePush | null = null
  for (const [{ push }, count] of counts)
    if (newest === null || push.submittedAt > newest.push.submittedAt) newest = { push, count }
  return newest
}

/** The same as the wire shows it, as a field of what is the matter. */
export function underPush(unhealthy: readonly Instance[]): { under_push?: UnderPush } {
  const found = findPushBefore(unhealthy)
  if (found === null) return {}
  const { pushId, hash, submittedAt, pushedBy } = found.push
  return {
    under_push: {
      push_id: pushId,
      config_hash: hash,
      submitted_at: submittedAt.toISOString(),
      pushed_by: pushedBy,
      instance_count: found.count,
    },
  }
}
