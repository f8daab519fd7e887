import type { Db } from './db.ts'
import { changedNames, noteValueAuthor } from './value-authors.ts'
import { lockWorkload } from './workloads.ts'

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

/**
 * Replace the values of a workload, and note who is the author of those that become others or are gone; false when there
 * is no such workload.
 */
export async function storeWorkloadVariables(
  tx: Db,
  workloadId: string,
  { values, updatedBy, updatedById, updatedAt }: WorkloadVariables & { updatedById: string },
): Promise<boolean> {
  if ((await lockWorkload(tx, workloadId)) === null) return false
  const before = (await listWorkloadVariables(tx, [workloadId])).get(workloadId)?.values ?? {}
  await tx.execute(
    `insert into workload_variables (workload_id, values, updated_by, updated_at) values ($1, $2::jsonb, $3, $4)
     on conflict (workload_id) do update
       set values = excluded.values, updated_by = excluded.updated_by, updated_at = excluded.updated_at`,
    [workloadId, JSON.stringify(values), updatedBy, updatedAt],
  )
  const names = changedNames(before, values)
  await noteValueAuthor(tx, { workloadId, kind: 'variable', names, userId: updatedById }, Object.keys(values))
  return true
}
