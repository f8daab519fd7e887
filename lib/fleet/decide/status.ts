import type { HealthNode } from '../../opamp/report.ts'

/** How an instance's health counts towards its workload. */
export type HealthVerdict = 'healthy' | 'unhealthy' | 'starting'

/** How long a start, a stop or a bad turn after an offer may take before the workload shows it. */
export const DEGRADED_DELAY_MS = 60_000
/** From this share of the live instances on, being unhealthy is the workload's trouble and not some instances'. */
export const UNHEALTHY_SHARE = 0.5
/** An agent that stops says so right after it called itself unhealthy: those last words are let pass. */
const LAST_WORDS_MS = 1_000

/** Health as one word: no report is not an outage, and a start is not one either. */
export function judgeHealth(health: HealthNode | null): HealthVerdict {
  if (health === null || health.healthy) return 'healthy'
  if (health.status === 'StatusStarting' || health.status === 'StatusStopping') return 'starting'
  // Present and empty: the supervisor before its collector has started.
  return health.status === '' && health.lastError === '' ? 'starting' : 'unhealthy'
}

/** One live instance as the workload's status sees it. */
export interface InstanceHealth {
  verdict: HealthVerdict
  /** Monotonic time since which it has not been healthy; null when it is. */
  unhealthySinceMs: number | null
  /** An offer to it is on its way: being unhealthy now may be part of applying it. */
  hasOutstandingOffer: boolean
}

/** True when this instance makes its workload degraded now. */
export function isDegrading(instance: InstanceHealth, nowMs: number): boolean {
  if (instance.verdict === 'healthy' || instance.unhealthySinceMs === null) return false
  const isPlain = instance.verdict === 'unhealthy' && !instance.hasOutstandingOffer
  return nowMs - instance.unhealthySinceMs >= (isPlain ? LAST_WORDS_MS : DEGRADED_DELAY_MS)
}
