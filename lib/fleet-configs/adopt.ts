import type { Workload } from '../fleet/state/model.ts'
import { placeFieldOf } from '../model/places.ts'
import { isUnmanaged } from '../model/unmanaged.ts'
import { inTurns } from '../turns.ts'
import type { AdoptWorkload } from '../wire/adopt.ts'

/** Workloads without a base that report to run the same. */
export interface AdoptGroup {
  /** Empty for workloads whose instances run different configs, or report none. */
  reportedConfigHash: string
  workloads: Workload[]
}

/** Workloads that are looked at before others get their turn. */
const CHUNK = 500

/**
 * Whether a workload is a collector that accepts configs and has none from here: nothing was ever pushed to it, or only what
 * failed with nothing to go back to.
 */
export const isAdoptable = (workload: Workload): boolean =>
  isUnmanaged(workload) &&
  workload.archivedAt === null &&
  workload.type === 'collector' &&
  workload.acceptsRemoteConfig

/** A workload as adoption names it. */
export const toAdoptWorkload = ({ id, displayName, fingerprintKeys }: Workload): AdoptWorkload => ({
  id,
  display_name: displayName,
  ...placeFieldOf(fingerprintKeys),
})

/** The workloads that can be adopted by what they report to run, the largest group first. */
export async function groupUnmanaged(workloads: Iterable<Workload>): Promise<AdoptGroup[]> {
  const groups = new Map<string, Workload[]>()
  for await (const piece of inTurns(workloads, CHUNK)) {
    for (const workload of piece.filter(isAdoptable)) {
      const hash = workload.live.commonReportedHash()
      const group = groups.get(hash)
      if (group === undefined) groups.set(hash, [workload])
      else group.push(workload)
    }
  }
  return [...groups]
    .map(([reportedConfigHash, members]) => ({ reportedConfigHash, workloads: members }))
    .sort(
      (a, b) =>
        b.workloads.length - a.workloads.length || (a.reportedConfigHash < b.reportedConfigHash ? -1 : 1),
    )
}
