import type { SimFleet } from './sim-fleet.ts'
import type { SimProcess } from './sim-process.ts'

/** So long each process that is tried takes at most: others leave it the lock, it loads, and nobody follows it. */
const EACH_TRIED_MS = 20_000
/** The longest that all leave a free lock to others, where nobody fails. */
const LEFT_FREE_MS = 21_000

/** Within this time of the last change the fleet has the owner that it keeps, if there is one that all can follow. */
export const settledMs = (places: number): number => LEFT_FREE_MS + places * EACH_TRIED_MS

/** Whether each one that runs reaches this one, itself as well. */
export const isReachedByAll = (fleet: SimFleet, process: SimProcess): boolean =>
  fleet.processes.every((other) => fleet.reaches(other, process))

/**
 * What is wrong with the owner now that nothing has changed for `settledMs`: where a process runs that all others reach, and that can load, the
 * owner is such a one, or at least another process follows it. Empty for nothing.
 */
export function findFaultsAtRest(fleet: SimFleet): string[] {
  const { owner, processes } = fleet
  if (processes.length === 0) return []
  if (owner === null) return ['nobody owns']
  const unready = fleet.isWhole ? processes.filter(({ isReady, isInTime }) => isInTime && !isReady) : []
  if (unready.length > 0)
    return [`${unready.map(({ id }) => id).join(', ')} is not ready, though all reach each other`]
  const isFollowed = owner.isFollowed || processes.length === 1
  const better = processes.filter((process) => !process.loading.fails && isReachedByAll(fleet, process))
  if (isFollowed || better.length === 0) return []
  return [`${owner.id} owns and nobody follows it, though all reach ${better.map(({ id }) => id).join(', ')}`]
}

/** Looks at a fleet after each thing that happens, for what must not be at any time. */
export class Watch {
  readonly faults: string[] = []
  readonly #fleet: SimFleet
  #freeSinceMs: number | null = null

  constructor(fleet: SimFleet) {
    this.#fleet = fleet
  }

  look = (): void => {
    const { holder, processes, rows, time } = this.#fleet
    const claimers = processes.filter(({ isStopping }) => !isStopping)
    if (holder !== null || claimers.length === 0 || rows.isAway) this.#freeSinceMs = null
    else this.#freeSinceMs ??= time.nowMs
    if (this.#freeSinceMs === null) return
    const freeMs = time.nowMs - this.#freeSinceMs
    if (freeMs <= LEFT_FREE_MS + claimers.length * 1_000) return
    this.faults.push(`the lock was free for ${freeMs} ms beside ${claimers.length} processes`)
    this.#freeSinceMs = null
  }
}
