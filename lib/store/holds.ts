import type { Db } from './db.ts'

/** A workload that campaigns leave alone. */
export interface StoredHold {
  workloadId: string
  reason: string
  /** An e-mail. */
  heldBy: string
  heldById: string
  heldAt: Date
  /** Listed as overdue from then on; it ends only when somebody releases it. */
  dueAt: Date
}

/** All holds. */
export async function listHolds(db: Db): Promise<StoredHold[]> {
  const rows = await db.query<{
    workload_id: string
    reason: string
    held_by: string
    held_by_id: string
    held_at: Date
    due_at: Date
  }>(`select workload_id, reason, held_by, held_by_id, held_at, due_at from workload_holds`)
  return rows.map((row) => ({
    workloadId: row.workload_id,
    reason: row.reason,
    heldBy: row.held_by,
    heldById: row.held_by_id,
    heldAt: row.held_at,
    dueAt: row.due_at,
  }))
}

/** Hold a workload, or hold it anew; false when there is no such workload. */
export async function storeHold(tx: Db, hold: StoredHold): Promise<boolean> {
  const touched = await tx.execute(
    `insert into workload_holds (workload_id, reason, held_by, held_by_id, held_at, due_at)
     select id, $2, $3, $4, $5, $6 from workloads where id = $1
     on conflict (workload_id) do update
       set reason = excluded.reason, held_by = excluded.held_by, held_by_id = excluded.held_by_id,
           held_at = excluded.held_at, due_at = excluded.due_at`,
    [hold.workloadId, hold.reason, hold.heldBy, hold.heldById, hold.heldAt, hold.dueAt],
  )
  return touched === 1
}

/** Release a workload; false when it was not held. */
export async function deleteHold(tx: Db, workloadId: string): Promise<boolean> {
  return (await tx.execute(`delete from workload_holds where workload_id = $1`, [workloadId])) === 1
}
