import { placeOfFleetConfig } from '../store/commit-authors.ts'
import type { Db } from '../store/db.ts'
import { type FleetConfigChange, type StoredFleetConfig, updateFleetConfig } from '../store/fleet-configs.ts'
import { copyToName } from '../store/unseen-texts.ts'

/**
 * Store what a fleet config (`before`, which must be locked) is about from now on; false where another one has the name. Git
 * knows it by its name: what was asked for there under the former one is so under the next.
 */
export async function storeDefinition(
  tx: Db,
  before: StoredFleetConfig | null,
  change: FleetConfigChange,
): Promise<boolean> {
  if (!(await updateFleetConfig(tx, change))) return false
  if (before !== null && before.name !== change.name)
    await copyToName(tx, placeOfFleetConfig(before.name), placeOfFleetConfig(change.name))
  return true
}
