import type { HealthNode } from '../../opamp/report.ts'
import { saysHealth } from './abilities.ts'

/** How an instance's health counts towards its workload. */
export type HealthVerdict = 'healthy' | 'unhealthy' | 'starting'

/** How long a start, a stop or a bad turn after an offer may take before the workload shows it. */
export const DEGRADED_DELAY_MS = 60_000
/** From this share of unhealthy live instances on, the workload as a whole is shown as unhealthy. */
export const UNHEALTHY_SHARE = 0.5
/** An agent that stops often reports itself unhealthy just before it leaves: for so long that does not count. */
const LAST_WORDS_MS = 1_000

/** How long an instance that has come back may take to say how healthy it is; then it counts as it did before. */
const HEALTH_AWAITED_MS = 60_000

/** Whether an instance came back a moment ago and has yet to say how healthy it is. */
export function isHealthAwaited(
  instance: { healthAwaitedSinceMs: number | null; capabilities: number },
  nowMs: number,
): boolean {
  const { healthAwaitedSinceMs: sinceMs } = instance
  return sinceMs !== null && nowMs - sinceMs < HEALTH_AWAITED_MS && saysHealth(instance)
}

/** Health as one word. An agent without a report counts as healthy; one that starts or stops is `starting`. */
export function judgeHealth(health: HealthNode | null): HealthVerdict {
  if (health === null || health.healthy) return 'healthy'
  if (health.status === 'StatusStarting' || health.status === 'StatusStopping') return 'starting'
  // Present and empty: the supervisor before its collector has started.
  return health.status === '' && health.lastError === '' ? 'starting' : 'unhealthy'
}

/** One live instance as the workload's status sees it. */
export interface InstanceHealth {
  verdict: HealthVerdict
  /** Heard time since which it has not been healthy; null when it is. */
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
