import { createHash } from 'node:crypto'
import { AGENT_CAPABILITIES } from '../opamp/report.ts'
import { compareVersions, isComparable } from '../versions.ts'
import { labelsOf } from './identity.ts'
import type { Instance, Workload } from './model.ts'
import { isDegrading, judgeHealth, type WorkloadStatus } from './status-decision.ts'

/** May this instance be pushed to at all? */
export function isCapable(instance: Instance): boolean {
  return (instance.capabilities & AGENT_CAPABILITIES.acceptsRemoteConfig) !== 0 && !instance.isExcluded
}

/** Does this instance ever say what became of a config? */
export function canReport(instance: Instance): boolean {
  return (instance.capabilities & AGENT_CAPABILITIES.reportsRemoteConfig) !== 0
}

/** True while a sent offer has had no end. */
export function hasOutstandingOffer(instance: Instance): boolean {
  return instance.offer !== null && instance.offer.ended === null && instance.offer.lastSentAtMs !== null
}

/** The lowest comparable version, else the first in byte order; '' when none reports one. */
function lowestVersion(live: readonly Instance[]): string {
  let lowest = ''
  for (const { version } of live) {
    if (version === '' || version === lowest) continue
    if (lowest === '') lowest = version
    else if (isComparable(version) !== isComparable(lowest)) lowest = isComparable(version) ? version : lowest
    else if ((compareVersions(version, lowest) ?? (version < lowest ? -1 : 1)) < 0) lowest = version
  }
  return lowest
}

/** The labels that all live instances agree on. */
function commonLabels(live: readonly Instance[]): Record<string, string> | null {
  // Two lists and no closure: this runs over every instance of a workload in which one came or went.
  let keys: string[] | null = null
  let values: string[] = []
  let last: ReadonlyMap<string, string> | null = null
  for (const { attributes } of live) {
    if (attributes === null || attributes === last) continue
    last = attributes
    if (keys === null) {
      const labels = labelsOf(attributes)
      keys = Object.keys(labels)
      values = Object.values(labels)
      continue
    }
    for (let at = keys.length - 1; at >= 0; at--) {
      if (attributes.get(keys[at]!) === values[at]) continue
      keys.splice(at, 1)
      values.splice(at, 1)
    }
  }
  if (keys === null) return null
  return Object.fromEntries(keys.map((key, at) => [key, values[at]!]))
}

/** What every reported list holds, with a hash of its own where the lists differ. */
function commonComponents(live: readonly Instance[]): Workload['availableComponents'] {
  const lists = new Set<NonNullable<Instance['components']>>()
  for (const { components } of live) if (components !== null) lists.add(components)
  const [first, ...others] = lists
  if (first === undefined) return null
  const components: Record<string, readonly string[]> = {}
  for (const [category, types] of first.components) {
    if (!others.every((list) => list.components.has(category))) continue
    components[category] = types.filter((type) =>
      others.every((list) => list.components.get(category)!.includes(type)),
    )
  }
  if (others.length === 0) return { components, hash: first.hash }
  return { components, hash: createHash('sha256').update(JSON.stringify(components)).digest('hex') }
}

const SEVERITY = { failed: 0, applying: 1, none: 2, applied: 3 } as const

/** The worst over capable instances for the active config; the newest report when nothing is active. */
function worstRemoteStatus(workload: Workload, live: readonly Instance[]): Workload['remoteConfigStatus'] {
  let worst: Instance | null = null
  let worstRank: number = SEVERITY.applied + 1
  for (const instance of live) {
    if (workload.activeHash === null) {
      if (instance.report === null) continue
      if (worst === null || instance.report.at > worst.report!.at) worst = instance
      continue
    }
    if (!isCapable(instance) || !canReport(instance)) continue
    const isAbout = instance.report?.hash === workload.activeHash
    const rank = SEVERITY[isAbout ? instance.report!.status : 'none']
    if (rank < worstRank) {
      worst = instance
      worstRank = rank
    }
  }
  const report = worst?.report ?? null
  if (report === null || (workload.activeHash !== null && report.hash !== workload.activeHash)) return null
  return {
    status: report.status,
    configHash: report.hash,
    updatedAt: report.at.toISOString(),
    error: report.error,
  }
}

function isDegradingNow(instance: Instance, nowMs: number): boolean {
  const { health, unhealthySinceMs } = instance
  // Nearly all are healthy.
  if (unhealthySinceMs === null) return false
  const hasOffer = hasOutstandingOffer(instance)
  return isDegrading({ verdict: judgeHealth(health), unhealthySinceMs, hasOutstandingOffer: hasOffer }, nowMs)
}

function deriveStatus(workload: Workload, live: readonly Instance[], nowMs: number): WorkloadStatus {
  // Without a live instance the status stays until the grace ends.
  if (live.length === 0) return workload.status
  return live.some((instance) => isDegradingNow(instance, nowMs)) ? 'degraded' : 'connected'
}

const isSame = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b)

/**
 * Bring everything of a workload that follows from its instances up to date; true when a stored field
 * changed. What nobody live says any more keeps its last known value.
 */
export function deriveWorkload(workload: Workload, nowMs: number): boolean {
  const live: Instance[] = []
  for (const instance of workload.instances)
    if (instance.connection !== null && instance.isDescribed) live.push(instance)
  const next = {
    status: deriveStatus(workload, live, nowMs),
    version: lowestVersion(live) || workload.version,
    type: live.length === 0 ? workload.type : live.some((i) => i.type === 'collector') ? 'collector' : 'sdk',
    acceptsRemoteConfig: live.length === 0 ? workload.acceptsRemoteConfig : live.some(isCapable),
    labels: commonLabels(live) ?? workload.labels,
    availableComponents: commonComponents(live) ?? workload.availableComponents,
    remoteConfigStatus: live.length === 0 ? workload.remoteConfigStatus : worstRemoteStatus(workload, live),
  } as const
  let hasChanged = false
  for (const key of Object.keys(next) as (keyof typeof next)[]) {
    if (isSame(workload[key], next[key])) continue
    Object.assign(workload, { [key]: next[key] })
    hasChanged = true
  }
  return hasChanged
}
