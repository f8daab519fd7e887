import { canReport, isCapable, saysHealth } from '../fleet/decide/abilities.ts'
import { dwellEndsAt } from '../fleet/decide/rollout.ts'
import { awaitsPromotion } from '../fleet/decide/rollout-standing.ts'
import { toReportedConfig } from '../fleet/decide/standing.ts'
import { judgeHealth } from '../fleet/decide/status.ts'
import { listDegrading } from '../fleet/state/derive.ts'
import type { FollowedPush, Instance, Workload } from '../fleet/state/model.ts'
import { assignmentOf } from '../fleet/state/state.ts'
import { judgeAftermath, takenBackBy } from '../fleet/views/aftermath.ts'
import { causeOfHalt } from '../fleet/views/halt-cause.ts'
import { findInstanceFault } from '../fleet/views/instance-fault.ts'
import { failureOfLate } from '../fleet/views/instance-why.ts'
import { findPushBefore } from '../fleet/views/under-push.ts'
import { callInstance } from '../model/instance-names.ts'
import { isProductionByLabels } from '../model/production.ts'
import { judgeOutcome } from '../model/push-outcome.ts'
import type { FailureCause } from '../store/pushes.ts'
import { inTurns } from '../turns.ts'
import {
  countInstance,
  type Fault,
  type HaltedRollout,
  HELD_DELAY_MS,
  type InstanceCounts,
  type InstanceFacts,
  isLong,
  type PushFacts,
  UNPROMOTED_DELAY_MS,
  type WorkloadFacts,
} from './rules.ts'

/** What is remembered of one instance from one look to the next. Times are heard times. */
interface Assigned {
  pushId: string
  /** The later of when it connected and when its config was offered. */
  beganAtMs: number
  /** Since when the drift rule counts: `beganAtMs`, or the look that found the assignment. */
  sinceMs: number
  /** The number of the look that saw it last. */
  look: number
}

/** Instances that are forgotten in one turn of the event loop. */
const FORGET_CHUNK = 1_000

/**
 * Since when each live instance has had its present assignment, in heard time, because the wall clock may
 * jump. An assignment that came since the last look without a connection or an offer counts from the look that found
 * it.
 */
export class AssignmentTimes {
  readonly #known = new Map<string, Assigned>()
  #look = 1
  #seenCount = 0
  #lastLookMs: number

  constructor(startedAtMs: number) {
    this.#lastLookMs = startedAtMs
  }

  /**
   * Since when an instance has had its assignment: the later of its connection and the offer, or this look where both
   * are older than the last look. Remembers the answer for the next look.
   */
  since(instance: Instance, assigned: FollowedPush, nowMs: number): number {
    const { pushId } = assigned.push
    const { offer, connectedAtMs } = instance
    const beganAtMs = offer?.pushId === pushId ? Math.max(connectedAtMs, offer.startedAtMs) : connectedAtMs
    const known = this.#known.get(instance.uid)
    if (known?.look !== this.#look) this.#seenCount++
    if (known?.pushId === pushId && known.beganAtMs === beganAtMs) {
      known.look = this.#look
      return known.sinceMs
    }
    // An instance can be assigned a config that it had before, without a new offer.
    const sinceMs = beganAtMs >= this.#lastLookMs ? beganAtMs : nowMs
    this.#known.set(instance.uid, { pushId, beganAtMs, sinceMs, look: this.#look })
    return sinceMs
  }

  /** End a look at the whole fleet: instances that were not seen in it are forgotten, some in each turn. */
  async endLook(nowMs: number): Promise<void> {
    const look = this.#look
    const isAnyMissing = this.#known.size > this.#seenCount
    this.#look++
    this.#seenCount = 0
    this.#lastLookMs = nowMs
    if (!isAnyMissing) return
    for await (const piece of inTurns(this.#known, FORGET_CHUNK))
      for (const [uid, known] of piece) if (known.look < look) this.#known.delete(uid)
  }
}

/**
 * An instance that is starting counts as unhealthy: one that takes longer than the rule waits passes no telemetry
 * meanwhile.
 */
function toHealth(instance: Instance): InstanceFacts['health'] {
  const { health } = instance
  if (health === null) return saysHealth(instance) ? 'unknown' : 'healthy'
  return judgeHealth(health) === 'healthy' ? 'healthy' : 'unhealthy'
}

/** Why something failed; null where that is not known, or muster has no words for it. */
const toFault = (error: FailureCause | null): Fault | null =>
  error === null || error.cause === 'unknown' ? null : { cause: error.cause, title: error.title }

/** Why an instance has not applied what it is assigned: its own report of that, else what became of the offer. */
function toDriftFault(instance: Instance, assigned: FollowedPush | null): Fault | null {
  const { report } = instance
  const hasFailed = report?.status === 'failed' && report.hash === assigned?.push.hash
  if (hasFailed) return toFault(report.error)
  return assigned === null ? null : toFault(failureOfLate(instance, assigned))
}

/** The newest push; where it is an automatic rollback, the failed push that it answers. */
function toPushFacts(workload: Workload): PushFacts {
  const push = workload.newestPush
  if (push === null) return { kind: 'without-failure' }
  const takenBack = takenBackBy(push)
  if (takenBack !== null) {
    const aftermath = judgeAftermath(workload, takenBack, push)
    if (aftermath.kind === 'overtaken') return { kind: 'undecided' }
    const pushId = push.rollbackOfPushId ?? push.pushId
    const fault = toFault(push.failedError)
    return {
      kind: 'failed',
      pushId,
      hash: takenBack.hash,
      aftermath,
      counts: null,
      fault,
      isOfCampaign: false,
    }
  }
  const outcome = judgeOutcome(push)
  if (outcome === 'applied') return { kind: 'without-failure' }
  // What was wrong before is not over while a part of the targets does not run what was pushed since.
  if (push.status === 'applied') return { kind: 'undecided' }
  // An operator who rolled a push back knows that it failed: no alert.
  if (push.status === 'pending' || push.error?.cause === 'rolled_back') return { kind: 'undecided' }
  const aftermath = judgeAftermath(workload, push, null)
  const { failed, target } = push.counts
  const { pushId, hash, error } = push
  const fault = toFault(error)
  return { kind: 'failed', pushId, hash, aftermath, counts: { failed, target }, fault, isOfCampaign: false }
}

/** Count one live instance for the alert rules. */
export function countLive(
  counts: InstanceCounts,
  instance: Instance,
  isCompatible: (instance: Instance, assigned: FollowedPush) => boolean,
  times: AssignmentTimes,
  nowMs: number,
): void {
  const assigned = assignmentOf(instance)
  const facts = {
    isCompatible: isCapable(instance) && (assigned === null || isCompatible(instance, assigned)),
    canReport: canReport(instance),
    assignedHash: assigned?.push.hash ?? null,
    reported: toReportedConfig(instance),
    assignedSinceMs: assigned === null ? nowMs : times.since(instance, assigned, nowMs),
    health: toHealth(instance),
    unhealthySinceMs: instance.unhealthySinceMs,
    uid: instance.uid,
    name: callInstance(instance.podName, instance.workload?.fingerprintKeys, instance.uid),
    fault: () => findInstanceFault(instance),
    driftFault: () => toDriftFault(instance, assigned),
  }
  countInstance(counts, facts, nowMs)
}

/** A rollout that has been kept from its next stage for long; null for another one. */
function toHeldRollout({ rollout }: Workload, now: Date): HaltedRollout | null {
  if (rollout === null || rollout.stored.status !== 'running') return null
  const hold = awaitsPromotion(rollout.stored) ? 'unpromoted' : rollout.hold?.reason
  // A campaign that is paused or halted, or a version that applies by itself no more, is told of itself.
  if (hold === undefined || hold === 'stopped') return null
  const { pushId, hash } = rollout.followed.push
  const { id: rolloutId, stageIndex: stage, stages, progress } = rollout.stored
  const since = dwellEndsAt(stages[stage]!, progress[stage]!)
  const delayMs = hold === 'unpromoted' ? UNPROMOTED_DELAY_MS : HELD_DELAY_MS
  if (since === null || now.getTime() - since.getTime() < delayMs) return null
  const stop = { gate: '', value: 0, limit: 0, stage, at: since.toISOString(), fault: null }
  return { rolloutId, pushId, hash, ...stop, hold }
}

function toHaltedRollout(workload: Workload): HaltedRollout | null {
  const { rollout } = workload
  if (rollout === null || rollout.stored.status !== 'halted' || rollout.stored.halt === null) return null
  const { gate, value, limit, stage, at = '' } = rollout.stored.halt
  const { pushId, hash } = rollout.followed.push
  const fault = toFault(causeOfHalt(workload, { pushId }))
  return { rolloutId: rollout.stored.id, pushId, hash, gate, value, limit, stage, at, fault, hold: null }
}

/** What the alert rules look at in a workload of the fleet, with its live instances as they were counted. */
export function toWorkloadFacts(
  workload: Workload,
  instances: InstanceCounts,
  { now, nowMs }: { now: Date; nowMs: number },
): WorkloadFacts {
  const { id: workloadId, displayName, status, version } = workload
  const push = toPushFacts(workload)
  const halted = toHaltedRollout(workload) ?? toHeldRollout(workload, now)
  const long = listDegrading(workload, nowMs).filter(({ unhealthySinceMs }) =>
    isLong(unhealthySinceMs, nowMs),
  )
  const sincePush = findPushBefore(long)
  const isProduction = isProductionByLabels(workload)
  return { workloadId, displayName, status, isProduction, version, instances, push, halted, sincePush }
}
