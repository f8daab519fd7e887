import type { Workload } from '../model.ts'

/** Workloads by display name, then id. The order is kept, and looked over before it is used again. */
export class NameOrder {
  #order: Workload[] = []
  /** The names that the order was made by; a workload may be renamed. */
  #names: string[] = []

  /** All workloads, by their id, in order. */
  of(all: ReadonlyMap<string, Workload>): readonly Workload[] {
    if (!this.#holdsFor(all)) this.#sort(all)
    return this.#order
  }

  #holdsFor(all: ReadonlyMap<string, Workload>): boolean {
    const [order, names] = [this.#order, this.#names]
    if (order.length !== all.size) return false
    for (let at = 0; at < order.length; at++) {
      const workload = order[at]!
      if (workload.displayName !== names[at] || all.get(workload.id) !== workload) return false
    }
    return true
  }

  #sort(all: ReadonlyMap<string, Workload>): void {
    // The former order is sorted again, which costs little where little moved.
    const kept = this.#order.filter((workload) => all.get(workload.id) === workload)
    if (kept.length < all.size) {
      const known = new Set(kept)
      for (const workload of all.values()) if (!known.has(workload)) kept.push(workload)
    }
    this.#order = kept.sort(compareByName)
    this.#names = this.#order.map((workload) => workload.displayName)
  }
}

/** The order of the list of workloads. */
export const compareByName = (
  a: Pick<Workload, 'displayName' | 'id'>,
  b: Pick<Workload, 'displayName' | 'id'>,
): number =>
  a.displayName === b.displayName ? compareText(a.id, b.id) : compareText(a.displayName, b.displayName)

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
