import { isDeepStrictEqual } from 'node:util'
import { listOpenAutoApplies } from '../store/auto-apply.ts'
import type { Db } from '../store/db.ts'
import type { StoredFleetConfig } from '../store/fleet-configs.ts'

/** Which workloads a fleet config is for. */
type ForWhom = Pick<StoredFleetConfig, 'selector' | 'priority'>

/** Whether two parts of a fleet config would be stored as the same. */
export const isStoredAlike = (known: unknown, wanted: unknown): boolean =>
  isDeepStrictEqual(known, JSON.parse(JSON.stringify(wanted)))

/**
 * Whether this would change selector or priority of a fleet config while a version of it applies by itself, or is
 * requested to: both are a part of what was approved.
 */
export async function isBoundByAutoApply(
  tx: Db,
  stands: ForWhom & Pick<StoredFleetConfig, 'id'>,
  wanted: ForWhom,
): Promise<boolean> {
  const isForTheSame = stands.priority === wanted.priority && isStoredAlike(stands.selector, wanted.selector)
  return !isForTheSame && (await listOpenAutoApplies(tx, stands.id)).length > 0
}
