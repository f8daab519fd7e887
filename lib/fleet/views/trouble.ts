import { presenceOf } from '../../model/presence.ts'
import type { Push } from '../../store/pushes.ts'
import type { PushAftermath } from '../../wire/revisions.ts'
import type { WorkloadTrouble } from '../../wire/workloads.ts'
import { UNHEALTHY_SHARE } from '../decide/status.ts'
import { listDegrading } from '../state/derive.ts'
import type { Instance, Workload } from '../state/model.ts'
import { assignmentOf, followedOf, isAwaited } from '../state/state.ts'
import { judgeAftermath, takenBackBy } from './aftermath.ts'
import type { Drifted } from './drifted.ts'
import { type TextAccess, whyOf } from './errors.ts'
import { firstFailureOf } from './first-failure.ts'
import { causeOfHalt } from './halt-cause.ts'
import { findInstanceFault } from './instance-fault.ts'
import { whyDrifted } from './instance-why.ts'
import { timeoutAt } from './revision.ts'
import { underPush } from './under-push.ts'
import { type WhyWithPart, whyWith } from './why.ts'

/** What `findTrouble` needs to know beside the workload itself. */
export interface TroubleFacts {
  drifted: Drifted
  isVersionOutdated: boolean
  nowMs: number
  now: Date
}

/**
 * The worst trouble of a workload, and since when it has it; null when it has none. Lists show it and are sorted by it;
 * it is derived here and nowhere else.
 */
export function findTrouble(
  workload: Workload,
  facts: TroubleFacts,
  texts: TextAccess,
): WorkloadTrouble | null {
  if (workload.archivedAt !== null) return null
  if (workload.status === 'disconnected') return { kind: 'disconnected', since: lostSince(workload) }
  const unhealthy = findUnhealthy(workload, facts, texts)
  const ofPush = findPushTrouble(workload, texts)
  if (ofPush === null) return unhealthy ?? findLesser(workload, facts, texts)
  if (unhealthy === null) return ofPush
  return isOverFor(ofPush, unhealthy) ? unhealthy : besidePush(ofPush, unhealthy)
}

/** Since when nothing of a workload is there: when it was noticed, and when it counted as disconnected, is later. */
const lostSince = ({ lastSeenAt }: Workload): string => lastSeenAt.toISOString()

/** Whether a failed push is no reason any more: all are back at what they ran, and most are unhealthy with that. */
const isOverFor = ({ aftermath }: WorkloadTrouble, { kind }: WorkloadTrouble): boolean =>
  aftermath?.kind === 'went_back' && kind === 'unhealthy'

/** What went wrong with a push comes first, as it is the nearest reason; how many are unhealthy stands beside it. */
const besidePush = (ofPush: WorkloadTrouble, { count, total }: WorkloadTrouble): WorkloadTrouble => ({
  ...ofPush,
  unhealthy_count: count,
  instance_count: total,
})

function findUnhealthy(
  workload: Workload,
  { nowMs, now }: TroubleFacts,
  texts: TextAccess,
): WorkloadTrouble | null {
  const sick = listDegrading(workload, nowMs)
  let since = now
  let first: Instance | null = null
  for (const instance of sick) {
    const at = instance.unhealthySince ?? now
    if (first === null || at < since || (at.getTime() === since.getTime() && instance.uid < first.uid))
      first = instance
    if (at < since) since = at
  }
  const count = sick.length
  if (count === 0) return null
  const total = workload.live.count
  const kind = count >= UNHEALTHY_SHARE * total ? 'unhealthy' : 'some_unhealthy'
  return { kind, since: since.toISOString(), count, total, ...underPush(sick), ...complaintOf(first, texts) }
}

/** What the instance that has been unhealthy for longest complains of; nothing where muster has no words for it. */
const complaintOf = (instance: Instance | null, texts: TextAccess): WhyWithPart =>
  whyWith(instance === null ? null : findInstanceFault(instance), texts)

const aboutPush = ({ pushId, hash }: Push) => ({ push_id: pushId, config_hash: hash })

/** Ends of a rollback after which the workload is not back where it was. */
const NOT_BACK: ReadonlySet<PushAftermath['kind']> = new Set(['rollback_failed', 'went_back_in_part'])

function findPushTrouble(workload: Workload, texts: TextAccess): WorkloadTrouble | null {
  const push = workload.newestPush
  if (push === null) return null
  const takenBack = takenBackBy(push)
  if (takenBack !== null) {
    const aftermath = judgeAftermath(workload, takenBack, push)
    if (aftermath.kind === 'overtaken') return null
    const { rollbackOfPushId: pushId, failedError } = push
    const failed = {
      push_id: pushId ?? push.pushId,
      config_hash: takenBack.hash,
      aftermath,
      ...whyOf(failedError, texts),
    }
    return NOT_BACK.has(aftermath.kind)
      ? {
          kind: 'push_failed',
          since: (push.failedAt ?? push.appliedAt ?? push.updatedAt).toISOString(),
          ...failed,
        }
      : { kind: 'rolled_back', since: push.submittedAt.toISOString(), ...failed }
  }
  // A rollout that an operator took back is no trouble: it was done on purpose. The alert rules do the same.
  if (push.status === 'failed' && push.error?.cause === 'rolled_back') return null
  if (push.status === 'failed')
    return {
      kind: 'push_failed',
      since: (push.failedAt ?? push.updatedAt).toISOString(),
      ...aboutPush(push),
      aftermath: judgeAftermath(workload, push, null),
      ...whyOf(push.error, texts),
    }
  const held = workload.rollout?.stored ?? null
  if (held !== null && held.pushId === push.pushId && held.status === 'halted')
    return {
      kind: 'rollout_halted',
      since: held.updatedAt.toISOString(),
      rollout_id: held.id,
      ...aboutPush(push),
      ...whyWith(causeOfHalt(workload, push), texts),
    }
  return findFailedTargets(workload, push, texts)
}

function findFailedTargets(workload: Workload, push: Push, texts: TextAccess): WorkloadTrouble | null {
  const followed = followedOf(workload, push.pushId)
  if (followed === null || followed.failedCount === 0) return null
  const first = firstFailureOf(workload, push)
  return {
    kind: 'some_failed',
    ...(first === null ? {} : { since: first.endedAt.toISOString() }),
    count: followed.failedCount,
    total: Math.max(followed.failedCount, push.counts.target),
    ...aboutPush(push),
    ...whyOf(first?.error ?? null, texts),
  }
}

/** The config that an instance is to run, and the push that brought it. */
function aboutAssigned(instance: Instance): Pick<WorkloadTrouble, 'push_id' | 'config_hash'> {
  const assigned = assignmentOf(instance)
  return assigned === null ? {} : aboutPush(assigned.push)
}

/** Is the newest push still within its timeout? Instances that do not run its config yet are then no trouble. */
function isUnderWay({ newestPush: push }: Workload, { now }: TroubleFacts): boolean {
  const until = push === null ? null : timeoutAt(push)
  return until !== null && now < until
}

function findLesser(workload: Workload, facts: TroubleFacts, texts: TextAccess): WorkloadTrouble | null {
  const total = workload.live.count
  const { count, first, altered, alteredSince } = facts.drifted
  if (first !== null && !isUnderWay(workload, facts))
    return {
      kind: 'drifted',
      count,
      total,
      ...aboutAssigned(first),
      ...whyDrifted(first, texts, facts.now),
    }
  if (altered > 0 && !isUnderWay(workload, facts))
    return {
      kind: 'altered',
      ...(alteredSince === null ? {} : { since: alteredSince.toISOString() }),
      count: altered,
      total,
    }
  // One without instances keeps the status that they gave it for a while; it is not what is the matter any more.
  if (presenceOf(workload.status, total) === 'leaving')
    // What was there before this process started is awaited: that it was lost is not known yet.
    return isAwaited(workload, facts.nowMs)
      ? { kind: 'leaving' }
      : { kind: 'leaving', since: lostSince(workload) }
  if (workload.status === 'degraded') return { kind: 'degraded' }
  return facts.isVersionOutdated ? { kind: 'outdated' } : null
}
