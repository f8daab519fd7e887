import type { Workload } from '../model.ts'
import type { FleetState } from '../state.ts'

/** Workloads by display name, then id; sorted again when a name has changed. */
export class NameOrder {
  #order: readonly Workload[] = []
  #version = -1

  /** A list that stays as it is while the fleet changes. */
  of({ workloads, namesVersion }: FleetState): readonly Workload[] {
    if (namesVersion === this.#version) return this.#order
    this.#version = namesVersion
    // The former order is sorted again, which costs little where little moved.
    const kept = this.#order.filter((workload) => workloads.get(workload.id) === workload)
    if (kept.length < workloads.size) {
      const known = new Set(kept)
      for (const workload of workloads.values()) if (!known.has(workload)) kept.push(workload)
    }
    this.#order = kept.sort(compareByName)
    return this.#order
  }
}

/** The order of the list of workloads. */
export const compareByName = (
  a: Pick<Workload, 'displayName' | 'id'>,
  b: Pick<Workload, 'displayName' | 'id'>,
): number =>
  a.displayName === b.displayName ? compareText(a.id, b.id) : compareText(a.displayName, b.displayName)

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
