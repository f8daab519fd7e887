import { hasCapableInstance } from '../fleet/pushes/push-plan.ts'
import type { StoredAutoApply } from '../store/auto-apply.ts'
import { hasOpenCampaign, listScopesRolledBack } from '../store/fleet-config-history.ts'
import { inTurns } from '../turns.ts'
import { decideMembers } from './members.ts'
import type { AutoApplyParts } from './parts.ts'
import type { WantedVersion } from './reach.ts'
import type { AutoApplyRun, LeftOut } from './run.ts'

/** How long a workload counts as one that has just come, and is looked at more often. */
export const YOUNG_MS = 60_000
const CHUNK = 500

/** The version that is in force, as it is asked whom it reaches. */
export async function readWanted(
  { db }: Pick<AutoApplyParts, 'db'>,
  { id, number, fleetConfigId, activeSince }: StoredAutoApply,
): Promise<WantedVersion> {
  return {
    autoApplyId: id,
    number,
    since: activeSince!,
    hasOpenCampaign: await hasOpenCampaign(db, fleetConfigId),
    rolledBackIn: await listScopesRolledBack(db, fleetConfigId, number),
  }
}

/**
 * Work out which workloads under the fleet config the version reaches, and why it leaves out the others; fills the
 * queue of the run.
 */
export async function lookAtAll(
  parts: AutoApplyParts,
  autoApply: StoredAutoApply,
  run: AutoApplyRun,
): Promise<void> {
  const under = await parts.fleetConfigs.under(autoApply.fleetConfigId)
  const leftOut = new Map<string, LeftOut>()
  const queue: string[] = []
  const wanted = await readWanted(parts, autoApply)
  for await (const piece of decideMembers(parts, autoApply.fleetConfigId, under, wanted))
    for (const { workload, reach } of piece) {
      if (reach.kind === 'left_out') {
        if (!run.inFlight.has(workload.id)) leftOut.set(workload.id, { reason: reach.reason })
      } else if (reach.kind === 'reached') {
        if (!hasCapableInstance(workload)) leftOut.set(workload.id, { reason: 'offline' })
        else {
          queue.push(workload.id)
          // The former reason stays until the workload has had its turn again.
          const before = run.leftOut.get(workload.id)
          if (before !== undefined) leftOut.set(workload.id, before)
        }
      }
    }
  const now = parts.clock.now()
  for (const id of run.nextTryMs.keys()) {
    const workload = parts.fleet.workload(id)
    if (workload === null || !isYoung(workload.createdAt, now)) run.nextTryMs.delete(id)
  }
  Object.assign(run, { leftOut, queue, underCount: under.length, lookedAt: now })
}

const isYoung = (firstSeenAt: Date, now: Date): boolean => now.getTime() - firstSeenAt.getTime() < YOUNG_MS

/**
 * Workloads under the fleet config that have just come and may be tried now: those that were never tried, in the order in
 * which they came, before all others; `limit` at most. Only those that have just come are looked at, as this is asked
 * twice a second.
 */
export async function listYoung(
  { fleet, fleetConfigs, clock }: AutoApplyParts,
  { fleetConfigId, activeSince }: StoredAutoApply,
  { nextTryMs, inFlight }: AutoApplyRun,
  limit: number,
): Promise<string[]> {
  const now = clock.now()
  const nowMs = fleet.clock.heardMs()
  const fresh: string[] = []
  const again: string[] = []
  const young = fleet.state.firstSeenSince(new Date(now.getTime() - YOUNG_MS + 1))
  for await (const piece of inTurns(young, CHUNK))
    for (const workload of piece) {
      if (fresh.length >= limit) return fresh
      const { id, createdAt } = workload
      const nextMs = nextTryMs.get(id)
      if (createdAt < activeSince! || inFlight.has(id) || (nextMs ?? 0) > nowMs) continue
      if (nextMs !== undefined && again.length >= limit) continue
      if (fleetConfigs.membershipOf(workload).configId !== fleetConfigId) continue
      if (nextMs === undefined) fresh.push(id)
      else again.push(id)
    }
  return [...fresh, ...again].slice(0, limit)
}
