import type { NamedRecord } from '../../../lib/model/workload-names.ts'
import { nameOf } from '../../../lib/model/workload-names.ts'
import { namedAt, placeOf } from '../logic/workloads.ts'
import { isNameOfMany } from './fleet.ts'

/** The first place that was seen of each name, and the names that were seen in more than one. */
const places = new Map<string, string>()
const shared = new Set<string>()

/** Note the names of a list before it is shown: pages that have no need of the whole fleet tell namesakes apart as well. */
export function noteNames(rows: Iterable<readonly [name: string, place: string | undefined]>): void {
  for (const [name, place = ''] of rows) {
    if ((places.get(name) ?? place) !== place) shared.add(name)
    else places.set(name, place)
  }
}

/** Note names that several workloads have, as an answer of the server tells them. */
export function noteShared(names: Iterable<string>): void {
  for (const name of names) shared.add(name)
}

/** Whether a workload is known by its place, such as its host, since others have its name. */
export const isShared = (name: string): boolean => shared.has(name) || isNameOfMany(name)

/** A workload as one line, what tells it from its namesakes first. */
export const lineOf = (name: string, place = ''): string => namedAt(name, place, isShared(name))

/** A workload of the fleet as one line. */
export const labelOf = (workload: NamedRecord): string => lineOf(nameOf(workload), placeOf(workload))
