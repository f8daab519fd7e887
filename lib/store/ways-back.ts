import type { Db } from './db.ts'

/** Which of these workloads have a config to go back to: applied here before, not the active one, and not kept away. */
export async function listWorkloadsWithWayBack(db: Db, workloadIds: readonly string[]): Promise<Set<string>> {
  if (workloadIds.length === 0) return new Set()
  const rows = await db.query<{ id: string }>(
    `select w.id from workloads w where w.id = any($1::text[]) and exists (
       select from pushes p where p.workload_id = w.id and p.status = 'applied'
         and p.config_hash is distinct from w.active_config_hash
         and not exists (select from quarantines q where q.workload_id = w.id
           and q.config_hash = p.config_hash and q.instance_uid = ''))`,
    [workloadIds],
  )
  return new Set(rows.map(({ id }) => id))
}
