import type { Db } from './db.ts'

/** The revision that a workload is to go back to when a push fails. */
export interface KnownGood {
  workloadId: string
  hash: string
  markedAt: Date
  markedBy: string
  sourceAppliedAt: Date | null
  replacedHash: string | null
  replaceReason: string | null
}

interface Row {
  workload_id: string
  config_hash: string
  marked_at: Date
  marked_by: string
  source_applied_at: Date | null
  replaced_config_hash: string | null
  replace_reason: string | null
}

const COLUMNS = `workload_id, config_hash, marked_at, marked_by, source_applied_at, replaced_config_hash, replace_reason`

const toKnownGood = (row: Row): KnownGood => ({
  workloadId: row.workload_id,
  hash: row.config_hash,
  markedAt: row.marked_at,
  markedBy: row.marked_by,
  sourceAppliedAt: row.source_applied_at,
  replacedHash: row.replaced_config_hash,
  replaceReason: row.replace_reason,
})

/** Every workload's pinned revision. */
export async function listKnownGood(db: Db): Promise<KnownGood[]> {
  return (await db.query<Row>(`select ${COLUMNS} from known_good_configs order by workload_id`)).map(
    toKnownGood,
  )
}

/** A workload's pinned revision; null when none is. */
export async function findKnownGood(db: Db, workloadId: string): Promise<KnownGood | null> {
  const rows = await db.query<Row>(`select ${COLUMNS} from known_good_configs where workload_id = $1`, [
    workloadId,
  ])
  return rows[0] === undefined ? null : toKnownGood(rows[0])
}

/** Pin a revision, in place of the one pinned before. */
export async function setKnownGood(tx: Db, pin: KnownGood): Promise<void> {
  await tx.execute(
    `insert into known_good_configs (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (workload_id) do update set config_hash = excluded.config_hash, marked_at = excluded.marked_at,
       marked_by = excluded.marked_by, source_applied_at = excluded.source_applied_at,
       replaced_config_hash = excluded.replaced_config_hash, replace_reason = excluded.replace_reason`,
    [
      pin.workloadId,
      pin.hash,
      pin.markedAt,
      pin.markedBy,
      pin.sourceAppliedAt,
      pin.replacedHash,
      pin.replaceReason,
    ],
  )
}

/** Unpin; false when nothing was pinned. */
export async function clearKnownGood(tx: Db, workloadId: string): Promise<boolean> {
  return (await tx.execute(`delete from known_good_configs where workload_id = $1`, [workloadId])) === 1
}
