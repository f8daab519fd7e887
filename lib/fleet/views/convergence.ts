import type { Convergence, ConvergenceShared, ConvergenceTarget } from '../../wire/convergence.ts'
import type { Push, PushTarget } from '../model.ts'
import { errorFields, type Sight } from './errors.ts'
import { compareTargets, toInstanceState } from './revision.ts'

const STRAGGLERS_MAX = 50
const JOINERS_MAX = 200
const SHARED_MAX = 5
const SHARES = { p50: 0.5, p90: 0.9, p99: 0.99, p100: 1 } as const

/** What is known of live instances beside their targets: labels by uid. */
export type Traits = (uid: string) => Readonly<Record<string, string>> | null

/** A target that was asked and has not answered in time. */
const isStraggler = (target: PushTarget, now: Date): boolean =>
  target.isTarget && toInstanceState(target, now).isTimedOut

/** One instance of a push, with the times of our receipt. */
export function toConvergenceTarget(
  target: PushTarget,
  push: Push,
  traits: Traits,
  now: Date,
  sight: Sight,
): ConvergenceTarget {
  const version = traits(target.instanceUid)?.['service.version'] ?? ''
  return {
    instance_uid: target.instanceUid,
    ...(target.podName === '' ? {} : { pod_name: target.podName }),
    ...(version === '' ? {} : { version }),
    state: toInstanceState(target, now).status,
    joined_later: target.isJoiner,
    offered_at: target.offeredAt.toISOString(),
    ...(target.applyingAt === null ? {} : { applying_at: target.applyingAt.toISOString() }),
    ...(target.endedAt === null
      ? {}
      : {
          ended_at: target.endedAt.toISOString(),
          duration_ms: Math.max(0, target.endedAt.getTime() - push.submittedAt.getTime()),
        }),
    ...errorFields(target.error, sight),
  }
}

/** Milliseconds until each share of the targets had applied; null for a share that was not reached. */
export function convergenceTimes(push: Push, targets: readonly PushTarget[]): Convergence['times_ms'] {
  const own = targets.filter((target) => target.isTarget && !target.isJoiner)
  const times = own
    .filter((target) => target.state === 'applied' && target.endedAt !== null)
    .map((target) => Math.max(0, target.endedAt!.getTime() - push.submittedAt.getTime()))
    .sort((a, b) => a - b)
  const timeTo = (share: number) => times[Math.ceil(own.length * share) - 1] ?? null
  return {
    p50: timeTo(SHARES.p50),
    p90: timeTo(SHARES.p90),
    p99: timeTo(SHARES.p99),
    p100: timeTo(SHARES.p100),
  }
}

/** Labels that nearly all stragglers carry and the others mostly do not. */
export function sharedByStragglers(
  targets: readonly PushTarget[],
  traits: Traits,
  now: Date,
): ConvergenceShared[] {
  const counts = new Map<string, { key: string; value: string; late: number; rest: number }>()
  let late = 0
  let rest = 0
  for (const target of targets) {
    const labels = traits(target.instanceUid)
    if (labels === null) continue
    const isLate = isStraggler(target, now)
    if (isLate) late++
    else rest++
    for (const [key, value] of Object.entries(labels)) {
      const name = JSON.stringify([key, value])
      const count = counts.get(name) ?? { key, value, late: 0, rest: 0 }
      if (isLate) count.late++
      else count.rest++
      counts.set(name, count)
    }
  }
  if (late < 2 || rest === 0) return []
  return [...counts.values()]
    .filter((count) => count.late >= 0.8 * late && count.rest / rest <= 0.5 * (count.late / late))
    .sort((a, b) => a.rest - b.rest || b.late - a.late || (a.key < b.key ? -1 : 1))
    .slice(0, SHARED_MAX)
    .map(({ key, value, late: count }) => ({ key, value, count }))
}

/** How far a push got. `page` are the targets to list; all of them count. */
export function toConvergence(
  push: Push,
  all: readonly PushTarget[],
  page: readonly PushTarget[],
  about: { traits: Traits; rollback: Push | null; now: Date },
  sight: Sight,
): Convergence {
  const { traits, rollback, now } = about
  const toWire = (target: PushTarget) => toConvergenceTarget(target, push, traits, now, sight)
  const own = all.filter((target) => target.isTarget)
  const stateCounts = { sent: 0, applying: 0, applied: 0, failed: 0, no_status: 0, waiting: 0 }
  for (const target of own) stateCounts[toInstanceState(target, now).status]++
  const joiners = all.filter((target) => target.isJoiner).sort(compareTargets)
  const endedAt = push.failedAt ?? push.appliedAt
  return {
    workload_id: push.workloadId,
    config_hash: push.hash,
    push_id: push.pushId,
    status: push.status,
    phase: push.phase,
    started_at: push.submittedAt.toISOString(),
    ...(endedAt === null ? {} : { ended_at: endedAt.toISOString() }),
    target_count: own.length,
    waiting_count: stateCounts.sent + stateCounts.waiting,
    applying_count: stateCounts.applying,
    applied_count: stateCounts.applied,
    failed_count: stateCounts.failed,
    no_status_count: stateCounts.no_status,
    joiner_count: joiners.length,
    times_ms: convergenceTimes(push, all),
    stragglers: all
      .filter((target) => isStraggler(target, now))
      .sort(compareTargets)
      .slice(0, STRAGGLERS_MAX)
      .map(toWire),
    stragglers_share: sharedByStragglers(own, traits, now),
    targets: page.map(toWire),
    joiners: joiners.slice(0, JOINERS_MAX).map(toWire),
    ...(rollback === null
      ? {}
      : {
          rolled_back_by: {
            push_id: rollback.pushId,
            config_hash: rollback.hash,
            status: rollback.status,
            pushed_by: rollback.pushedBy,
          },
        }),
  }
}
