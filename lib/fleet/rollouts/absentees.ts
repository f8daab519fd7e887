import type { Rollout, Workload } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'

/**
 * Whether a stage that is due waits for agents of its workload that are away and may come back: the next one would be sized
 * without them, and the last would be done with whoever is there. For the grace at most, by which each of them is back or
 * gone: where others leave as these come back, it would wait for ever.
 */
export function waitsForAbsentees({ deps }: FleetParts, { instances }: Workload, rollout: Rollout): boolean {
  const nowMs = deps.clock.heardMs()
  rollout.dueSinceMs ??= nowMs
  if (nowMs - rollout.dueSinceMs >= deps.graceMs) return false
  for (const { connection, hasDeparted } of instances) if (connection === null && !hasDeparted) return true
  return false
}
