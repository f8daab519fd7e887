import { canReport, isCapable } from '../fleet/abilities.ts'
import type { FollowedPush, Instance, Workload } from '../fleet/model.ts'
import { assignmentOf } from '../fleet/state.ts'
import type { InstanceFacts, ReportedConfig, WorkloadFacts } from './rules.ts'

/** The two clocks at one moment. */
export interface Moment {
  nowMs: number
  now: Date
}

interface Assigned {
  pushId: string
  connectedAtMs: number
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
    const connectedAtMs = instance.connectedAt.getTime()
    const known = this.#known.get(instance.uid)
    const isSame = known?.pushId === pushId && known.connectedAtMs === connectedAtMs
    const offeredAtMs = assigned.targets.get(instance.uid)?.offeredAt.getTime() ?? connectedAtMs
    const elapsedMs = now.getTime() - Math.max(connectedAtMs, offeredAtMs)
    const sinceMs = isSame ? known.sinceMs : Math.min(nowMs, Math.max(this.#lastLookMs, nowMs - elapsedMs))
    this.#seen.set(instance.uid, { pushId, connectedAtMs, sinceMs })
    return sinceMs
  }

  /** A look at the whole fleet has ended: who was not seen in it is forgotten. */
  endLook({ nowMs }: Moment): void {
    this.#known = this.#seen
    this.#seen = new Map()
    this.#lastLookMs = nowMs
  }
}

function toReported({ reported }: Instance): ReportedConfig {
  if (!reported.isKnown) return { kind: 'unknown' }
  if (reported.status === 'none') return { kind: 'none' }
  return { kind: 'status', status: reported.status, hash: reported.hash }
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
      reported: toReported(instance),
      joinedAtMs: assigned === null ? moment.nowMs : times.since(instance, assigned, moment),
      firstOfferedAtMs: null,
    })
  }
  const { id: workloadId, displayName, status, version } = workload
  return { workloadId, displayName, status, version, instances }
}
