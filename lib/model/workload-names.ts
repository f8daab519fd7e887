import type { WorkloadRecord } from '../wire/workloads.ts'
import { placeOf } from './places.ts'
import { compareAsRead } from './text-order.ts'

/** What names a workload in a record. */
export type NamedRecord = Pick<WorkloadRecord, 'id' | 'display_name' | 'fingerprint_keys'>

/** A name to show, also for workloads that never gave one. */
export const nameOf = ({ id, display_name: name, fingerprint_keys: keys }: NamedRecord): string =>
  name || keys?.['name'] || id

const place = ({ fingerprint_keys: keys }: NamedRecord): string => placeOf(keys ?? {})

/** Compare by name, then by what tells namesakes apart, then by id: the order of rows that are equal otherwise. */
export const compareNames = (a: NamedRecord, b: NamedRecord): number =>
  compareAsRead(nameOf(a), nameOf(b)) ||
  compareAsRead(place(a), place(b)) ||
  (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
