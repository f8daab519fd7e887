import type { Db } from './db.ts'
import { keptByFleetConfig } from './fleet-wishes.ts'
import { type Freeze, shareFreeze } from './freeze.ts'

/** Whether a workload is held, and whether its config, or its fleet config, is kept in Git. */
export interface Reservation {
  workloadId: string
  isHeld: boolean
  /** The owner in Git that keeps its config; null for none. */
  managedBy: string | null
  /** The owner in Git that keeps it by the fleet config that it is under; null for none. */
  fleetKeptBy: string | null
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
    `select w.id as "workloadId", h.workload_id is not null as "isHeld", m.owner as "managedBy",
       (select g.owner from managed_fleet_configs g where g.fleet_config_id = ${keptByFleetConfig('w.id')}) as "fleetKeptBy"
     from unnest($1::text[]) as w (id) left join workload_holds h on h.workload_id = w.id
       left join managed_configs m on m.workload_id = w.id`,
    [workloadIds],
  )
  return { freeze: await shareFreeze(tx), of: new Map(rows.map((row) => [row.workloadId, row])) }
}
