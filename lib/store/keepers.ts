import type { Db } from './db.ts'
import { KEPT_BY_FLEET } from './fleet-wishes.ts'

/** Who keeps a workload in Git: the owner, and by what. */
export interface Keeper {
  owner: string
  by: 'workload' | 'fleet-config'
}

/** SQL for the keeper of the workload of this expression, as JSON; null for none. What Git says of it by itself comes first. */
export const keeperOf = (workloadId: string): string => `(
  select json_build_object('owner', o.owner, 'by', 'workload') from managed_configs o where o.workload_id = ${workloadId}
  union all
  select json_build_object('owner', m.owner, 'by', 'fleet-config') ${KEPT_BY_FLEET} and f.workload_id = ${workloadId})`

/** Who keeps a workload in Git, by itself or by its fleet config; null where nobody does. */
export async function findKeeper(db: Db, workloadId: string): Promise<Keeper | null> {
  const rows = await db.query<{ keeper: Keeper | null }>(`select ${keeperOf('$1')} as keeper`, [workloadId])
  return rows[0]?.keeper ?? null
}
