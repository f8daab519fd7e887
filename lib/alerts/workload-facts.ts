import { canReport, isCapable } from '../fleet/decide/abilities.ts'
import { judgeAftermath } from '../fleet/decide/aftermath.ts'
import { toReportedConfig } from '../fleet/decide/standing.ts'
import { judgeHealth } from '../fleet/decide/status.ts'
import type { FollowedPush, Instance, Workload } from '../fleet/state/model.ts'
import { assignmentOf } from '../fleet/state/state.ts'
import { AGENT_CAPABILITIES } from '../opamp/report.ts'
import type { InstanceFacts, PushFacts, WorkloadFacts } from './rules.ts'

/** The two clocks at one moment. */
export interface Moment {
  nowMs: number
  now: Date
}

interface Assigned {
  pushId: string
  /** The later of its join and the first offer, on the wall clock. */
  beganAtMs: number
  sinceMs: number
}

/**
 * Since when each live instance has had the config that it is assigned now, on the monotonic clock. Joins and
 * offers carry wall-clock times; a moment that is new to us is placed by them, but never before our last look.
 */
export class AssignmentTimes {
  #known = new Map<string, Assigned>()
  #seen = new Map<string, Assigned>()
  #lastLookMs: number

  constructor(startedAtMs: number) {
    this.#lastLookMs = startedAtMs
  }

  /** When the later of the instance's join and the first offer of its config was. */
  since(instance: Instance, assigned: FollowedPush, { nowMs, now }: Moment): number {
    const { pushId } = assigned.push
    const offeredAtMs = assigned.targets.get(instance.uid)?.offeredAt.getTime() ?? 0
    const beganAtMs = Math.max(instance.connectedAt.getTime(), offeredAtMs)
    const known = this.#known.get(instance.uid)
    // One that was offered it only since the last look has had it since then.
    const isSame = known?.pushId === pushId && known.beganAtMs === beganAtMs
    const elapsedMs = now.getTime() - beganAtMs
    const sinceMs = isSame ? known.sinceMs : Math.min(nowMs, Math.max(this.#lastLookMs, nowMs - elapsedMs))
    this.#seen.set(instance.uid, { pushId, beganAtMs, sinceMs })
    return sinceMs
  }

  /** A look at the whole fleet has ended: who was not seen in it is forgotten. */
  endLook({ nowMs }: Moment): void {
    this.#known = this.#seen
    this.#seen = new Map()
    this.#lastLookMs = nowMs
  }
}

/** A start that takes longer than the rule waits counts as well: nothing flows meanwhile. */
function toHealth({ health, capabilities }: Instance): InstanceFacts['health'] {
  if (health === null) return (capabilities & AGENT_CAPABILITIES.reportsHealth) === 0 ? 'healthy' : 'unknown'
  return judgeHealth(health) === 'healthy' ? 'healthy' : 'unhealthy'
}

/** The newest push, and the failure that it answers where it is an automatic rollback. */
function toPushFacts(workload: Workload): PushFacts {
  const push = workload.newestPush
  if (push === null) return { kind: 'settled' }
  if (push.kind === 'auto-rollback' && push.failedHash !== null) {
    const failed = { seq: push.seq, hash: push.failedHash }
    const aftermath = judgeAftermath(workload, failed, push)
    if (aftermath.kind === 'overtaken') return { kind: 'undecided' }
    const pushId = push.rollbackOfPushId ?? push.pushId
    return { kind: 'failed', pushId, hash: failed.hash, aftermath, counts: null }
  }
  if (push.status === 'applied') return { kind: 'settled' }
  // What an operator took back is no news to anybody.
  if (push.status === 'pending' || push.error?.cause === 'rolled_back') return { kind: 'undecided' }
  const aftermath = judgeAftermath(workload, push, null)
  const { failed, target } = push.counts
  return { kind: 'failed', pushId: push.pushId, hash: push.hash, aftermath, counts: { failed, target } }
}

/** What the alert rules look at in a workload of the fleet. */
export function toWorkloadFacts(
  workload: Workload,
  isCompatible: (instance: Instance, assigned: FollowedPush) => boolean,
  times: AssignmentTimes,
  moment: Moment,
): WorkloadFacts {
  const instances: InstanceFacts[] = []
  for (const instance of workload.live.instances()) {
    const assigned = assignmentOf(instance)
    instances.push({
      isCompatible: isCapable(instance) && (assigned === null || isCompatible(instance, assigned)),
      canReport: canReport(instance),
      assignedHash: assigned?.push.hash ?? null,
      reported: toReportedConfig(instance),
      assignedSinceMs: assigned === null ? moment.nowMs : times.since(instance, assigned, moment),
      health: toHealth(instance),
      unhealthySinceMs: instance.unhealthySinceMs,
    })
  }
  const { id: workloadId, displayName, status, version } = workload
  return { workloadId, displayName, status, version, instances, push: toPushFacts(workload) }
}
