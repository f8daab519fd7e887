import { compareText } from './text-order.ts'

/** What is listed by its name. */
export interface Named {
  id: string
  displayName: string
}

/** Workloads by display name, then id: the order of lists, kept while the fleet changes. */
export class NameOrder<Workload extends Named> {
  readonly #order: Workload[] = []

  add(workload: Workload): void {
    this.#order.splice(this.#placeOf(workload), 0, workload)
  }

  /** Take one out; it must still have the name that it was added with. */
  remove(workload: Workload): void {
    const at = this.#placeOf(workload)
    if (this.#order[at] === workload) this.#order.splice(at, 1)
  }

  /** A copy of the list, which later changes leave as it is. */
  list(): readonly Workload[] {
    return this.#order.slice()
  }

  /** The index of the first that does not come before this one. */
  #placeOf(workload: Workload): number {
    let from = 0
    let to = this.#order.length
    while (from < to) {
      const middle = (from + to) >>> 1
      if (compareByName(this.#order[middle]!, workload) < 0) from = middle + 1
      else to = middle
    }
    return from
  }
}

/** The order of the list of workloads. */
export const compareByName = (a: Named, b: Named): number =>
  a.displayName === b.displayName ? compareText(a.id, b.id) : compareText(a.displayName, b.displayName)
