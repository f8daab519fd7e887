import type { Db } from './db.ts'

/** Values of variables that belong to one workload. */
export interface WorkloadVariables {
  values: Readonly<Record<string, string>>
  /** An e-mail. */
  updatedBy: string
  updatedAt: Date
}

/** The values of some workloads, by their ids; those without any are absent. */
export async function listWorkloadVariables(
  db: Db,
  workloadIds: readonly string[],
): Promise<Map<string, WorkloadVariables>> {
  const rows = await db.query<{
    workload_id: string
    values: Record<string, string>
    updated_by: string
    updated_at: Date
  }>(
    `select workload_id, values, updated_by, updated_at from workload_variables
     where workload_id = any($1::text[])`,
    [workloadIds],
  )
  return new Map(
    rows.map((row) => [
      row.workload_id,
      { values: row.values, updatedBy: row.updated_by, updatedAt: row.updated_at },
    ]),
  )
}

/** Replace the values of a workload; false when there is no such workload. */
export async function storeWorkloadVariables(
  tx: Db,
  workloadId: string,
  { values, updatedBy, updatedAt }: WorkloadVariables,
): Promise<boolean> {
  const touched = await tx.execute(
    `insert into workload_variables (workload_id, values, updated_by, updated_at)
     select id, $2::jsonb, $3, $4 from workloads where id = $1
     on conflict (workload_id) do update
       set values = excluded.values, updated_by = excluded.updated_by, updated_at = excluded.updated_at`,
    [workloadId, JSON.stringify(values), updatedBy, updatedAt],
  )
  return touched === 1
}
