import { isInOneOf } from '../campaigns/judge/scope.ts'
import type { Workload } from '../fleet/state/model.ts'
import { type BroughtVersion, listArrivals, listBroughtVersions } from '../store/fleet-config-history.ts'
import type { AutoApplyParts } from './parts.ts'
import { decideReach, type ReachVerdict, type WantedVersion } from './reach.ts'

/** Workloads that one statement asks for. */
const CHUNK = 500

/** Decide for workloads under a fleet config whether a version reaches them by itself, a few hundred at a time. */
export async function* decideMembers(
  { db }: Pick<AutoApplyParts, 'db'>,
  fleetConfigId: string,
  workloads: readonly Workload[],
  wanted: WantedVersion,
): AsyncGenerator<{ workload: Workload; reach: ReachVerdict }[]> {
  for (let at = 0; at < workloads.length; at += CHUNK) {
    const some = workloads.slice(at, at + CHUNK)
    const ids = some.map(({ id }) => id)
    const brought = groupByWorkload(await listBroughtVersions(db, fleetConfigId, ids))
    const arrivals = await listArrivals(db, ids)
    yield some.map((workload) => {
      const { id, activeHash, createdAt: firstSeenAt } = workload
      const facts = {
        activeHash,
        firstSeenAt,
        cameAt: arrivals.get(id) ?? null,
        brought: brought.get(id) ?? [],
        isRolledBackHere: isInOneOf(wanted.rolledBackIn, workload),
      }
      return { workload, reach: decideReach(facts, wanted) }
    })
  }
}

function groupByWorkload(rows: readonly BroughtVersion[]): Map<string, BroughtVersion[]> {
  const groups = new Map<string, BroughtVersion[]>()
  for (const row of rows) {
    const group = groups.get(row.workloadId)
    if (group === undefined) groups.set(row.workloadId, [row])
    else group.push(row)
  }
  return groups
}
