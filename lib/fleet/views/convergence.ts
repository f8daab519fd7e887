import type { PushTarget } from '../../store/push-targets.ts'
import type { Push } from '../../store/pushes.ts'
import type { Convergence, ConvergenceShared, ConvergenceTarget } from '../../wire/convergence.ts'
import type { PushAftermath } from '../../wire/revisions.ts'
import { errorFields, type TextAccess } from './errors.ts'
import { compareTargets, toInstanceState } from './revision.ts'
import { shownLabel } from './shown-labels.ts'

const STRAGGLERS_MAX = 50
const JOINERS_MAX = 200
const SHARED_MAX = 5
const SHARES = { p50: 0.5, p90: 0.9, p99: 0.99, p100: 1 } as const

/** The attributes of a live instance by its uid; null for one that is not live. */
export type Traits = (uid: string) => ReadonlyMap<string, string> | null

/** Is this a target that was offered the config and has not answered in time? */
const isStraggler = (target: PushTarget, now: Date): boolean =>
  target.isTarget && toInstanceState(target, now).isTimedOut

/**
 * How long a target took, in milliseconds: from when the push was meant for it. That is the commit, and the start of its
 * stage where the push goes out in stages: what the stages before took says nothing of it.
 */
const tookMs = ({ offeredAt }: PushTarget, endedAt: Date): number =>
  Math.max(0, endedAt.getTime() - offeredAt.getTime())

/** One instance of a push; its times are those at which muster received the reports. */
export function toConvergenceTarget(
  target: PushTarget,
  traits: Traits,
  now: Date,
  texts: TextAccess,
): ConvergenceTarget {
  const version = traits(target.instanceUid)?.get('service.version') ?? ''
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
          duration_ms: tookMs(target, target.endedAt),
        }),
    ...errorFields(target.error, texts),
  }
}

/** Within how many milliseconds each share of the targets, joiners apart, had applied; null for a share that was not reached. */
export function convergenceTimes(targets: readonly PushTarget[]): Convergence['times_ms'] {
  const own = targets.filter((target) => target.isTarget && !target.isJoiner)
  const times = own
    .filter((target) => target.state === 'applied' && target.endedAt !== null)
    .map((target) => tookMs(target, target.endedAt!))
    .sort((a, b) => a - b)
  const timeTo = (share: number) => times[Math.ceil(own.length * share) - 1] ?? null
  return {
    p50: timeTo(SHARES.p50),
    p90: timeTo(SHARES.p90),
    p99: timeTo(SHARES.p99),
    p100: timeTo(SHARES.p100),
  }
}

/** Labels of four in five stragglers or more that the other targets have at most half as often. */
export function sharedByStragglers(
  targets: readonly PushTarget[],
  traits: Traits,
  now: Date,
): ConvergenceShared[] {
  const late: ReadonlyMap<string, string>[] = []
  const rest: ReadonlyMap<string, string>[] = []
  for (const target of targets) {
    const labels = traits(target.instanceUid)
    if (labels !== null) (isStraggler(target, now) ? late : rest).push(labels)
  }
  if (late.length < 2 || rest.length === 0) return []
  return labelsOfMost(late)
    .map((label) => ({
      ...label,
      rest: rest.reduce((sum, labels) => sum + (labels.get(label.key) === label.value ? 1 : 0), 0),
    }))
    .filter((label) => label.rest / rest.length <= 0.5 * (label.count / late.length))
    .sort((a, b) => a.rest - b.rest || b.count - a.count || (a.key < b.key ? -1 : 1))
    .slice(0, SHARED_MAX)
    .map(({ key, value, count }) => ({ key, value: shownLabel(key, value), count }))
}

/**
 * The labels that at least four in five of these instances have, of those that the first, the middle or the last one
 * has: agents choose how many there are, and to count all would take as much memory as they all take together.
 */
function labelsOfMost(all: readonly ReadonlyMap<string, string>[]): ConvergenceShared[] {
  const some = new Set([all[0], all[all.length >> 1], all.at(-1)])
  const candidates = new Map<string, ConvergenceShared>()
  for (const labels of some)
    for (const [key, value] of labels ?? []) candidates.set(`${key}\n${value}`, { key, value, count: 0 })
  for (const labels of all)
    for (const candidate of candidates.values())
      if (labels.get(candidate.key) === candidate.value) candidate.count++
  return [...candidates.values()].filter(({ count }) => count >= 0.8 * all.length)
}

/** How far a push got. Only the targets in `page` are listed; the numbers are of `all`. */
export function toConvergence(
  push: Push,
  all: readonly PushTarget[],
  page: readonly PushTarget[],
  about: { traits: Traits; rollback: Push | null; aftermath: PushAftermath | null; now: Date },
  texts: TextAccess,
): Convergence {
  const { traits, rollback, aftermath, now } = about
  const toWire = (target: PushTarget) => toConvergenceTarget(target, traits, now, texts)
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
    times_ms: convergenceTimes(all),
    stragglers: all
      .filter((target) => isStraggler(target, now))
      .sort(compareTargets)
      .slice(0, STRAGGLERS_MAX)
      .map(toWire),
    stragglers_share: sharedByStragglers(own, traits, now),
    targets: page.map(toWire),
    joiners: joiners.slice(0, JOINERS_MAX).map(toWire),
    ...(aftermath === null ? {} : { aftermath }),
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
