import type { Db } from './db.ts'

/** The hash of the newest applied push of each of these workloads that has one. */
export async function listNewestAppliedHashes(
  db: Db,
  workloadIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.query<{ workload_id: string; config_hash: string }>(
    `select distinct on (workload_id) workload_id, config_hash from pushes
     where status = 'applied' and workload_id = any($1::text[]) order by workload_id, seq desc`,
    [workloadIds],
  )
  return new Map(rows.map((row) => [row.workload_id, row.config_hash]))
}
