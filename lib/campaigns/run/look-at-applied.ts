import { UNHEALTHY_SHARE } from '../../fleet/decide/status.ts'
import type { Workload } from '../../fleet/state/model.ts'
import { countDrifted } from '../../fleet/views/drifted.ts'
import { inTurns } from '../../turns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import type { CampaignRun } from './run.ts'

/** How the targets that applied the change were when all of them were last looked at. */
export interface Sight {
  /** Who is not well. */
  unwell: readonly string[]
  /** How many are not well, have vanished and are not yet taken for away, or came back and have yet to say how they are. */
  troubledCount: number
  /** Who has drifted for long. */
  drifted: readonly string[]
}

export const NOTHING_SEEN: Sight = { unwell: [], troubledCount: 0, drifted: [] }

/**
 * How often all targets that applied are looked at, and how many before other work has a turn: there may be thousands,
 * and a campaign takes many steps a second.
 */
const LOOK_MS = 1_000
const LOOK_CHUNK = 250
/**
 * How long a target has to drift before it counts: an instance that joins runs something else until it has its config.
 */
const DRIFT_MS = 30_000

/**
 * How the targets that applied the change are, as of a moment ago, or as of now where it is asked afresh. One that was
 * deleted does not count, nor one whose config somebody changed since: it is not held to what the campaign brought.
 */
export async function lookAtApplied(
  { fleet }: Pick<CampaignParts, 'fleet'>,
  run: CampaignRun,
  { isAfresh = false } = {},
): Promise<Sight> {
  const nowMs = fleet.clock.heardMs()
  if (!isAfresh && nowMs < run.nextSightMs) return run.sight
  const find = (id: string, hash: string) => findHeldTo(fleet, { workloadId: id, resultHash: hash })
  const unwell: string[] = []
  let troubledCount = 0
  for await (const some of inTurns(run.watched, LOOK_CHUNK))
    for (const [id, hash] of some) {
      const workload = find(id, hash)
      if (workload === null) continue
      const isUnwell = isUnwellSince(workload)
      if (isUnwell) unwell.push(id)
      const isInDoubt = workload.live.isHealthAwaited(nowMs) || hasVanished(workload, { isForLong: false })
      if (isUnwell || workload.live.count === 0 || isInDoubt) troubledCount++
    }
  const drifted: string[] = []
  const { driftingSinceMs } = run
  for await (const some of inTurns(run.steady, LOOK_CHUNK))
    for (const [id, hash] of some) {
      const workload = find(id, hash)
      if (workload === null || countDrifted(fleet, workload) === 0) driftingSinceMs.delete(id)
      else if (!driftingSinceMs.has(id)) driftingSinceMs.set(id, nowMs)
      else if (nowMs - driftingSinceMs.get(id)! >= DRIFT_MS) drifted.push(id)
    }
  run.sight = { unwell, troubledCount, drifted }
  run.nextSightMs = nowMs + LOOK_MS
  return run.sight
}

/**
 * The workload of a target that is held to what a campaign brought; null for one that was deleted, and for one whose
 * config somebody changed since.
 */
export function findHeldTo(
  fleet: Pick<CampaignParts['fleet'], 'workload'>,
  { workloadId, resultHash }: { workloadId: string; resultHash: string | null },
): Workload | null {
  const workload = fleet.workload(workloadId)
  return resultHash !== null && workload?.activeHash === resultHash ? workload : null
}

/**
 * Whether a workload that was well before it applied the change is not any more: one that is away counts as well, and one
 * that lost half of its instances with it.
 */
export const isUnwellSince = (workload: Workload): boolean =>
  workload.status !== 'connected' || hasVanished(workload, { isForLong: true })

/**
 * Have so many of its instances vanished as they took up what it runs, that no others took the place of, that as a whole
 * it counts as unhealthy? `isForLong` counts only those that have been away for longer than the grace.
 */
function hasVanished({ active, live }: Workload, { isForLong }: { isForLong: boolean }): boolean {
  if (active === null || active.missing.size === 0) return false
  let missing = 0
  for (const isOver of active.missing.values()) if (isOver || !isForLong) missing++
  const target = active.push.counts.target
  return Math.min(missing, target - live.count) >= Math.max(1, target * UNHEALTHY_SHARE)
}
