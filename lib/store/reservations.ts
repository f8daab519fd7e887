import type { Db } from './db.ts'
import { type Freeze, findFreeze } from './freeze.ts'

/** Who else has a say in what a workload runs. */
export interface Reservation {
  workloadId: string
  isHeld: boolean
  /** Who keeps its config in Git; null for nobody. */
  managedBy: string | null
}

/** What is reserved of these workloads, and the freeze, as this transaction sees them. */
export async function readReservations(
  tx: Db,
  workloadIds: readonly string[],
): Promise<{ freeze: Freeze | null; of: ReadonlyMap<string, Reservation> }> {
  const rows = await tx.query<Reservation>(
    `select w.id as "workloadId", h.workload_id is not null as "isHeld", m.owner as "managedBy"
     from unnest($1::text[]) as w (id) left join workload_holds h on h.workload_id = w.id
       left join managed_configs m on m.workload_id = w.id`,
    [workloadIds],
  )
  return { freeze: await findFreeze(tx), of: new Map(rows.map((row) => [row.workloadId, row])) }
}
