import { DRIFT_DELAY_MS, UNHEALTHY_DELAY_MS } from '../../../lib/alerts/rules.ts'
import type { Workload } from '../../../lib/fleet/state/model.ts'
import type { Alert } from '../../../lib/store/alerts.ts'
import { GRACE_MS } from '../service/sim-service.ts'
import type { Report } from './finding.ts'

/** What a process told of a workload is told a little after it was so. */
const SLACK_MS = 2_000

interface Emptied {
  atMs: number
  isTold: boolean
}

/** What waits for a while waits for all of it: by the time that passes, and not by what a clock says. */
export class DelayPromises {
  readonly #report: Report
  /** When nobody was left in a workload, by process; null while somebody is there. */
  readonly #emptied = new Map<string, Emptied | null>()
  /** When the first word of a push was told. */
  readonly #assignedAtMs = new Map<string, number>()

  /** Where answers to commits get lost, a push is told of when it is found, and what it brings about counts from before. */
  readonly #isToldLate: boolean

  constructor(report: Report, isToldLate: boolean) {
    this.#report = report
    this.#isToldLate = isToldLate
  }

  /** A process told how a workload is now: nobody calls it disconnected before its grace is over. */
  workloadTold(process: string, workload: Workload, nowMs: number): void {
    const key = `${process}/${workload.id}`
    if (workload.live.count > 0) {
      this.#emptied.set(key, null)
      return
    }
    const known = this.#emptied.get(key)
    // One that nobody was in since the process started is waited for since then.
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

  /** A push changed: from its first word on there was something to agree to. */
  pushTold(workload: Workload, nowMs: number): void {
    const pushId = workload.newestPush?.pushId
    if (pushId !== undefined && !this.#assignedAtMs.has(pushId)) this.#assignedAtMs.set(pushId, nowMs)
  }

  /** An alert fired: what it is about had lasted for as long as its rule says. */
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
    // The shortest wait is that for a config that failed.
    const sinceMs = nowMs - Math.min(...assigned)
    if (assigned.length > 0 && sinceMs + SLACK_MS < DRIFT_DELAY_MS.failed)
      this.#report(`workload ${workloadId} was called drifting ${Math.round(sinceMs)} ms after its push`)
  }

  #assignedTo({ activePushId, rollout, takenBack }: Workload): number[] {
    const pushIds = [activePushId, rollout?.followed.push.pushId, takenBack?.push.pushId]
    return pushIds.flatMap((pushId) => this.#assignedAtMs.get(pushId ?? '') ?? [])
  }
}
