import type { Push } from '../../store/pushes.ts'
import type { WorkloadTrouble } from '../../wire/workloads.ts'
import { judgeAftermath } from '../decide/aftermath.ts'
import { UNHEALTHY_SHARE } from '../decide/status.ts'
import { isDegradingNow } from '../state/derive.ts'
import type { Workload } from '../state/model.ts'
import { followedOf } from '../state/state.ts'
import { timeoutAt } from './revision.ts'

/** What `findTrouble` needs to know beside the workload itself. */
export interface TroubleFacts {
  driftedCount: number
  isVersionOutdated: boolean
  nowMs: number
  now: Date
}

/**
 * The worst trouble of a workload, and since when it has it; null when it has none. Lists show it and are sorted by it;
 * it is derived here and nowhere else.
 */
export function findTrouble(workload: Workload, facts: TroubleFacts): WorkloadTrouble | null {
  if (workload.archivedAt !== null) return null
  if (workload.status === 'disconnected')
    return { kind: 'disconnected', since: (workload.disconnectedAt ?? workload.lastSeenAt).toISOString() }
  const unhealthy = findUnhealthy(workload, facts)
  if (unhealthy?.kind === 'unhealthy') return unhealthy
  return findPushTrouble(workload) ?? unhealthy ?? findLesser(workload, facts)
}

function findUnhealthy(workload: Workload, { nowMs, now }: TroubleFacts): WorkloadTrouble | null {
  let count = 0
  let sinceMs = Number.POSITIVE_INFINITY
  for (const instance of workload.live.unhealthy) {
    if (!isDegradingNow(instance, nowMs)) continue
    count++
    sinceMs = Math.min(sinceMs, instance.unhealthySinceMs ?? nowMs)
  }
  if (count === 0) return null
  const total = workload.live.count
  // Rounded to the second, as the monotonic and the wall clock differ a little from one call to the next.
  const since = new Date(Math.round((now.getTime() - (nowMs - sinceMs)) / 1_000) * 1_000).toISOString()
  return { kind: count >= UNHEALTHY_SHARE * total ? 'unhealthy' : 'some_unhealthy', since, count, total }
}

const aboutPush = ({ pushId, hash }: Push) => ({ push_id: pushId, config_hash: hash })

function findPushTrouble(workload: Workload): WorkloadTrouble | null {
  const push = workload.newestPush
  if (push === null) return null
  if (push.kind === 'auto-rollback' && push.failedHash !== null) {
    const { kind } = judgeAftermath(workload, { seq: push.seq, hash: push.failedHash }, push)
    if (kind === 'overtaken') return null
    const failed = { push_id: push.rollbackOfPushId ?? push.pushId, config_hash: push.failedHash }
    return kind === 'rollback_failed'
      ? { kind: 'push_failed', since: (push.failedAt ?? push.updatedAt).toISOString(), ...failed }
      : { kind: 'rolled_back', since: push.submittedAt.toISOString(), ...failed }
  }
  // A rollout that an operator took back is no trouble: it was done on purpose. The alert rules do the same.
  if (push.status === 'failed' && push.error?.cause === 'rolled_back') return null
  if (push.status === 'failed')
    return { kind: 'push_failed', since: (push.failedAt ?? push.updatedAt).toISOString(), ...aboutPush(push) }
  const held = workload.rollout?.stored ?? null
  if (held !== null && held.pushId === push.pushId && held.status === 'halted')
    return {
      kind: 'rollout_halted',
      since: held.updatedAt.toISOString(),
      rollout_id: held.id,
      ...aboutPush(push),
    }
  return findFailedTargets(workload, push)
}

function findFailedTargets(workload: Workload, push: Push): WorkloadTrouble | null {
  const followed = followedOf(workload, push.pushId)
  if (followed === null || followed.failedCount === 0) return null
  let since: Date | null = null
  for (const { state, endedAt } of followed.targets.values())
    if (state === 'failed' && endedAt !== null && (since === null || endedAt < since)) since = endedAt
  return {
    kind: 'some_failed',
    ...(since === null ? {} : { since: since.toISOString() }),
    count: followed.failedCount,
    total: Math.max(followed.failedCount, push.counts.target),
    ...aboutPush(push),
  }
}

/** Is the newest push still within its timeout? Instances that do not run its config yet are then no trouble. */
function isUnderWay({ newestPush: push }: Workload, { now }: TroubleFacts): boolean {
  const until = push === null ? null : timeoutAt(push)
  return until !== null && now < until
}

function findLesser(workload: Workload, facts: TroubleFacts): WorkloadTrouble | null {
  const total = workload.live.count
  if (facts.driftedCount > 0 && !isUnderWay(workload, facts))
    return { kind: 'drifted', count: facts.driftedCount, total }
  if (workload.status === 'degraded') return { kind: 'degraded' }
  if (total === 0) return { kind: 'leaving', since: workload.lastSeenAt.toISOString() }
  return facts.isVersionOutdated ? { kind: 'outdated' } : null
}
