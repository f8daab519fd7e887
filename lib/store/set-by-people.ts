import type { Db } from './db.ts'

/** What people have set for a workload beside its labels. */
export interface SetByPeople {
  isHeld: boolean
  /** A folder in Git keeps its config. */
  isManaged: boolean
  hasVariables: boolean
}

/** What people have set for a workload; its row stays locked until the transaction ends, so that nothing is added. */
export async function readSetByPeople(tx: Db, workloadId: string): Promise<SetByPeople> {
  await tx.query('select from workloads where id = $1 for update', [workloadId])
  const rows = await tx.query<SetByPeople>(
    `select exists (select from workload_holds where workload_id = $1) as "isHeld",
       exists (select from managed_configs where workload_id = $1) as "isManaged",
       exists (select from workload_variables where workload_id = $1 and values <> '{}') as "hasVariables"`,
    [workloadId],
  )
  return rows[0]!
}
