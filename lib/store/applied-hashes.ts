import { inTurns } from '../turns.ts'
import type { Db } from './db.ts'

/** Workloads asked for in one statement: to write out many more ids at once would block the event loop. */
const CHUNK = 2_000

/** The hash of the newest applied push of each of these workloads that has one. */
export async function listNewestAppliedHashes(
  db: Db,
  workloadIds: readonly string[],
): Promise<Map<string, string>> {
  const hashes = new Map<string, string>()
  for await (const some of inTurns(workloadIds, CHUNK)) {
    const rows = await db.query<{ workload_id: string; config_hash: string }>(
      `select distinct on (workload_id) workload_id, config_hash from pushes
       where status = 'applied' and workload_id = any($1::text[]) order by workload_id, seq desc`,
      [some],
    )
    for (const row of rows) hashes.set(row.workload_id, row.config_hash)
  }
  return hashes
}
