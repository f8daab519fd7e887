import type { Db } from './db.ts'
import { type Freeze, shareFreeze } from './freeze.ts'
import { type Keeper, keeperOf } from './keepers.ts'

/** Whether a workload is held, and who keeps it in Git. */
export interface Reservation {
  workloadId: string
  isHeld: boolean
  keeper: Keeper | null
}

/**
 * The reservations of these workloads, and the freeze, over or not, as this transaction sees them. The freeze stays as
 * it is until the transaction ends.
 */
export async function readReservations(
  tx: Db,
  workloadIds: readonly string[],
): Promise<{ freeze: Freeze | null; of: ReadonlyMap<string, Reservation> }> {
  const rows = await tx.query<Reservation>(
    `select w.id as "workloadId", h.workload_id is not null as "isHeld", ${keeperOf('w.id')} as keeper
     from unnest($1::text[]) as w (id) left join workload_holds h on h.workload_id = w.id`,
    [workloadIds],
  )
  return { freeze: await shareFreeze(tx), of: new Map(rows.map((row) => [row.workloadId, row])) }
}
