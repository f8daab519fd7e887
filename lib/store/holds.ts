import { columns } from './columns.ts'
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

const HOLD = columns<keyof StoredHold>({
  workloadId: 'workload_id',
  reason: 'reason',
  heldBy: 'held_by',
  heldById: 'held_by_id',
  heldAt: 'held_at',
  dueAt: 'due_at',
})

/** All holds. */
export async function listHolds(db: Db): Promise<StoredHold[]> {
  return db.query<StoredHold>(`select ${HOLD.select()} from workload_holds`)
}

/**
 * Hold a workload, or hold it anew; false when there is no such workload. The workload is locked first, as a push that
 * holds it does: the foreign key would lock it only after the row of the hold.
 */
export async function storeHold(tx: Db, hold: StoredHold): Promise<boolean> {
  const touched = await tx.execute(
    `insert into workload_holds (${HOLD.names})
     select id, $2, $3, $4, $5, $6 from workloads where id = $1 for key share
     on conflict (workload_id) do update
       set ${HOLD.replaced('reason', 'heldBy', 'heldById', 'heldAt', 'dueAt')}`,
    HOLD.valuesOf(hold),
  )
  return touched === 1
}

/** Release a workload; false when it was not held. */
export async function deleteHold(tx: Db, workloadId: string): Promise<boolean> {
  return (await tx.execute(`delete from workload_holds where workload_id = $1`, [workloadId])) === 1
}
