import { DRIFT_DELAY_MS, UNHEALTHY_DELAY_MS } from '../../../lib/alerts/rules.ts'
import type { Workload } from '../../../lib/fleet/state/model.ts'
import type { Alert } from '../../../lib/store/alerts.ts'
import { GRACE_MS } from '../service/sim-service.ts'
import type { Report } from './finding.ts'

/** What a process tells of a workload may come this much after it happened. */
const SLACK_MS = 2_000

interface Emptied {
  atMs: number
  isTold: boolean
}

/**
 * Nothing is announced before its delay is over: a disconnect not before the grace, an alert not before its rule says.
 * Measured by virtual time, and not by the wall clock, which may jump.
 */
export class DelayPromises {
  readonly #report: Report
  /** Since when a workload has had no live instance, by process and workload; null while it has one. */
  readonly #emptied = new Map<string, Emptied | null>()
  /** The processes that stand still. */
  readonly #standing = new Set<string>()
  /** When a process first told of a push, by push id, in ms of virtual time. */
  readonly #assignedAtMs = new Map<string, number>()

  /**
   * Whether answers to commits get lost in this world. A push is then told of only when it is found in the database, so
   * its age cannot be known from what was told.
   */
  readonly #isToldLate: boolean

  constructor(report: Report, isToldLate: boolean) {
    this.#report = report
    this.#isToldLate = isToldLate
  }

  /** A process told how a workload is now: it must not call it disconnected before the grace is over. */
  workloadTold(process: string, workload: Workload, nowMs: number): void {
    if (this.#standing.has(process)) return
    const key = `${process}/${workload.id}`
    if (workload.live.count > 0) {
      this.#emptied.set(key, null)
      return
    }
    const known = this.#emptied.get(key)
    // Without a live instance since the process started: when its grace began is not known here.
    if (known === undefined) return
    const emptied = known ?? { atMs: nowMs, isTold: false }
    this.#emptied.set(key, emptied)
    if (emptied.isTold || workload.status !== 'disconnected') return
    emptied.isTold = true
    const waitedMs = nowMs - emptied.atMs
    if (waitedMs + SLACK_MS < GRACE_MS)
      this.#report(
        `workload ${workload.id} was called disconnected ${Math.round(waitedMs)} ms after the last left`,
      )
  }

  /**
   * A process stands still until `wentOn`. It may have noticed before that a workload's last instance left, and tells
   * it only when it goes on, so when that grace began is not known here.
   */
  standsStill(process: string): void {
    this.#standing.add(process)
    for (const key of this.#emptied.keys()) if (key.startsWith(`${process}/`)) this.#emptied.delete(key)
  }

  /** A process that stood still goes on, and has told what it had to tell of that time. */
  wentOn(process: string): void {
    this.#standing.delete(process)
  }

  /** A process told of a push: instances can drift from it only since the first time. */
  pushTold(workload: Workload, nowMs: number): void {
    const pushId = workload.newestPush?.pushId
    if (pushId !== undefined && !this.#assignedAtMs.has(pushId)) this.#assignedAtMs.set(pushId, nowMs)
  }

  /** An alert fired: its cause must have lasted for as long as its rule says. */
  fired(
    { rule, workloadId }: Alert,
    workload: Workload | null,
    firstIllMs: number | null,
    nowMs: number,
  ): void {
    if (rule === 'workload_unhealthy' && nowMs - (firstIllMs ?? nowMs) + SLACK_MS < UNHEALTHY_DELAY_MS)
      this.#report(`workload ${workloadId} was called unhealthy, and nobody was so a minute ago`)
    if (rule !== 'config_drift' || workload === null || this.#isToldLate) return
    const assigned = this.#assignedTo(workload)
    // The rule waits for differently long by what the agent reported; a failed config has the shortest wait.
    const sinceMs = nowMs - Math.min(...assigned)
    if (assigned.length > 0 && sinceMs + SLACK_MS < DRIFT_DELAY_MS.failed)
      this.#report(`workload ${workloadId} was called drifting ${Math.round(sinceMs)} ms after its push`)
  }

  #assignedTo({ activePushId, rollout, takenBack }: Workload): number[] {
    const pushIds = [activePushId, rollout?.followed.push.pushId, takenBack?.push.pushId]
    return pushIds.flatMap((pushId) => this.#assignedAtMs.get(pushId ?? '') ?? [])
  }
}
