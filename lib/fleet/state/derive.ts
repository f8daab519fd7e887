import type { WorkloadStatus } from '../../store/workloads.ts'
import { hasOutstandingOffer } from '../decide/abilities.ts'
import { DEGRADED_DELAY_MS, isDegrading, judgeHealth } from '../decide/status.ts'
import type { FleetDeps } from './deps.ts'
import type { FollowedPush, Instance, Workload } from './model.ts'
import { assignmentOfUid, type FleetState } from './state.ts'

/** Does this instance make its workload degraded now? */
export function isDegradingNow(instance: Instance, nowMs: number): boolean {
  const { health, unhealthySinceMs } = instance
  const hasOffer = hasOutstandingOffer(instance)
  return isDegrading({ verdict: judgeHealth(health), unhealthySinceMs, hasOutstandingOffer: hasOffer }, nowMs)
}

/** The instances that make a workload degraded now. */
export const listDegrading = ({ live }: Workload, nowMs: number): Instance[] =>
  [...live.unhealthy].filter((instance) => isDegradingNow(instance, nowMs))

function deriveStatus({ live }: Workload, nowMs: number): WorkloadStatus {
  for (const instance of live.unhealthy) if (isDegradingNow(instance, nowMs)) return 'degraded'
  return 'connected'
}

/** The worst report for the active config; the newest of any config when none is active. */
function deriveConfigStatus({ live, activeHash }: Workload): Workload['remoteConfigStatus'] {
  const report = activeHash === null ? live.newestReport() : live.worstReport(activeHash)
  if (report === null) return null
  return {
    status: report.status,
    configHash: report.hash,
    updatedAt: report.at.toISOString(),
    error: report.error,
  }
}

const isSame = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b)

/**
 * Bring everything of a workload that follows from its live instances up to date; true when a stored field changed.
 * What no live instance reports keeps its last value. Without live instances nothing changes until the grace ends.
 */
export function deriveWorkload(workload: Workload, nowMs: number): boolean {
  const { live } = workload
  if (live.count === 0) return false
  const next = {
    status: deriveStatus(workload, nowMs),
    version: live.lowestVersion() || workload.version,
    type: live.hasCollector ? 'collector' : 'sdk',
    acceptsRemoteConfig: live.hasCapable,
    // Labels come from descriptions: they stay as they were while no live instance has described itself.
    labels: live.describedCount > 0 ? live.commonLabels() : workload.labels,
    availableComponents: live.commonComponents() ?? workload.availableComponents,
    remoteConfigStatus: deriveConfigStatus(workload),
  } as const
  let hasChanged = false
  for (const key of Object.keys(next) as (keyof typeof next)[]) {
    if (workload[key] === next[key]) continue
    hasChanged ||= !isSame(workload[key], next[key])
    // Assigned also where an equal object replaces another: the next comparison is then by identity, which is quick.
    Object.assign(workload, { [key]: next[key] })
  }
  return hasChanged
}

/**
 * Note of each push that live instances run how many of them are unhealthy now, where these are more than ever before.
 * Returns the pushes of which this was noted.
 */
function noteUnhealthy(workload: Workload, nowMs: number, now: () => Date): FollowedPush[] {
  const { live } = workload
  const counts = new Map<FollowedPush, number>()
  for (const instance of live.unhealthy) {
    if (!isDegradingNow(instance, nowMs)) continue
    const followed = assignmentOfUid(workload, instance.uid)
    const { report } = instance
    if (followed === null || report?.status !== 'applied' || report.hash !== followed.push.hash) continue
    counts.set(followed, (counts.get(followed) ?? 0) + 1)
  }
  const worse = [...counts].filter(([{ push }, count]) => count > push.unhealthyCount)
  for (const [{ push }, count] of worse) {
    push.unhealthyCount = count
    push.unhealthyOf = Math.max(count, live.appliedCount(push.hash))
    push.unhealthyAt = now()
  }
  return worse.map(([followed]) => followed)
}

/**
 * The instances that make the workload degraded since a time that is not stored yet: one that starts is none of them
 * before its start takes too long, so that nothing is stored of starts. Notes that it is stored with this.
 */
function findNewlySick(
  { live }: Workload,
  unhealthyStored: FleetState['unhealthyStored'],
  nowMs: number,
): Sick[] {
  const sick: Sick[] = []
  for (const instance of live.unhealthy) {
    const { uid, unhealthySince } = instance
    if (unhealthySince === null || unhealthyStored.has(uid) || !isDegradingNow(instance, nowMs)) continue
    unhealthyStored.set(uid, unhealthySince)
    sick.push({ uid, unhealthySince })
  }
  return sick
}

/** An instance and since when it is unhealthy. */
interface Sick {
  uid: string
  unhealthySince: Date
}

/** What changed when records were derived again. */
export interface Derived {
  /** The workloads of which a stored field changed. */
  workloads: Workload[]
  /** The pushes under which more instances are unhealthy than ever before. */
  sicker: FollowedPush[]
  /** Since when instances are unhealthy, of which it is not stored yet. */
  sick: Sick[]
}

/** The workloads whose record is to be derived again, because one of their instances has changed. */
export class TouchedWorkloads {
  readonly #deps: Pick<FleetDeps, 'clock' | 'notices'>
  readonly #state: Pick<FleetState, 'healthWatch' | 'kept' | 'unhealthyStored'>
  readonly #touched = new Set<Workload>()

  constructor(
    deps: Pick<FleetDeps, 'clock' | 'notices'>,
    state: Pick<FleetState, 'healthWatch' | 'kept' | 'unhealthyStored'>,
  ) {
    this.#deps = deps
    this.#state = state
  }

  add(workload: Workload): void {
    this.#touched.add(workload)
  }

  /** Bring these workloads up to date and tell of each. */
  derive(): Derived {
    const { clock } = this.#deps
    const { unhealthyStored } = this.#state
    const nowMs = clock.heardMs()
    const changed: Derived = { workloads: [], sicker: [], sick: [] }
    for (const workload of this.#touched) {
      if (workload.isDeleted) continue
      this.#watchHealth(workload, nowMs)
      if (deriveWorkload(workload, nowMs)) changed.workloads.push(workload)
      this.#state.kept.countWorkload(workload)
      changed.sicker.push(...noteUnhealthy(workload, nowMs, () => clock.now()))
      for (const each of findNewlySick(workload, unhealthyStored, nowMs)) changed.sick.push(each)
      this.#deps.notices.workloadChanged(workload)
    }
    this.#touched.clear()
    return changed
  }

  #watchHealth(workload: Workload, nowMs: number): void {
    let isWaiting = false
    for (const { unhealthySinceMs: since } of workload.live.unhealthy)
      isWaiting ||= since !== null && nowMs - since < DEGRADED_DELAY_MS
    if (isWaiting) this.#state.healthWatch.add(workload)
    else this.#state.healthWatch.delete(workload)
  }
}
