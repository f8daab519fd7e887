import { columns } from './columns.ts'
import type { Db } from './db.ts'

/** The revision that a workload is to go back to when a push fails. */
export interface KnownGood {
  workloadId: string
  hash: string
  markedAt: Date
  markedBy: string
  /** When the revision's newest push was applied; when it was submitted, where that one has not been applied. */
  sourceAppliedAt: Date | null
  /** The pin whose place it took; null when none was pinned. */
  replacedHash: string | null
  replaceReason: string | null
}

const PIN = columns<keyof KnownGood>({
  workloadId: 'workload_id',
  hash: 'config_hash',
  markedAt: 'marked_at',
  markedBy: 'marked_by',
  sourceAppliedAt: 'source_applied_at',
  replacedHash: 'replaced_config_hash',
  replaceReason: 'replace_reason',
})
const COLUMNS = PIN.select()

/** Every workload's pinned revision. */
export async function listKnownGood(db: Db): Promise<KnownGood[]> {
  return db.query<KnownGood>(`select ${COLUMNS} from known_good_configs order by workload_id`)
}

/** A workload's pinned revision; null when none is. */
export async function findKnownGood(db: Db, workloadId: string): Promise<KnownGood | null> {
  const rows = await db.query<KnownGood>(`select ${COLUMNS} from known_good_configs where workload_id = $1`, [
    workloadId,
  ])
  return rows[0] ?? null
}

const REPINNED = PIN.replaced(
  'hash',
  'markedAt',
  'markedBy',
  'sourceAppliedAt',
  'replacedHash',
  'replaceReason',
)

/** Pin a revision, in place of the one pinned before. */
export async function setKnownGood(tx: Db, pin: KnownGood): Promise<void> {
  await tx.execute(
    `insert into known_good_configs (${PIN.names}) values (${PIN.places})
     on conflict (workload_id) do update set ${REPINNED}`,
    PIN.valuesOf(pin),
  )
}

/** Unpin; false when nothing was pinned. */
export async function clearKnownGood(tx: Db, workloadId: string): Promise<boolean> {
  return (await tx.execute(`delete from known_good_configs where workload_id = $1`, [workloadId])) === 1
}
