import { readStoredLinks } from '../../lib/model/stored-settings.ts'
import type { Db } from '../../lib/store/db.ts'
import { findSetting, type StoredSetting } from '../../lib/store/settings.ts'
import type { WorkloadLinks } from '../../lib/wire/workload-links.ts'

/** The name of the setting that holds the links, as JSON. */
export const WORKLOAD_LINKS = 'workload_links'

/** The stored links as the wire shows them; none where nobody stored any. */
export async function readWorkloadLinks(db: Db): Promise<WorkloadLinks> {
  return toWorkloadLinks(await findSetting(db, WORKLOAD_LINKS))
}

/** A stored setting as the wire shows it. */
export function toWorkloadLinks(stored: StoredSetting | null): WorkloadLinks {
  const links = stored === null ? null : readStoredLinks(stored.value)
  if (stored === null || links === null) return { links: [] }
  return {
    links,
    updated_at: stored.updatedAt.toISOString(),
    updated_by: stored.updatedBy,
  }
}
