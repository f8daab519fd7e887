import type { Db } from './db.ts'

/** Where an agent belonged when it last described itself. */
export interface AgentHome {
  instanceUid: string
  workloadId: string
  seenAt: Date
}

/** All remembered agents. */
export async function listAgentHomes(db: Db): Promise<AgentHome[]> {
  const rows = await db.query<{ instance_uid: string; workload_id: string; seen_at: Date }>(
    `select instance_uid, workload_id, seen_at from agent_workloads order by instance_uid`,
  )
  return rows.map((row) => ({
    instanceUid: row.instance_uid,
    workloadId: row.workload_id,
    seenAt: row.seen_at,
  }))
}

/** Remember many agents in one statement; those of workloads that are gone meanwhile are passed over. */
export async function rememberAgentHomes(tx: Db, homes: readonly AgentHome[]): Promise<void> {
  await tx.execute(
    `insert into agent_workloads (instance_uid, workload_id, seen_at)
     select h.uid, w.id, h.seen
     from unnest($1::text[], $2::text[], $3::timestamptz[]) as h (uid, workload_id, seen)
     join workloads w on w.id = h.workload_id
     order by h.uid
     on conflict (instance_uid) do update set workload_id = excluded.workload_id, seen_at = excluded.seen_at`,
    [homes.map((h) => h.instanceUid), homes.map((h) => h.workloadId), homes.map((h) => h.seenAt)],
  )
}

/** Forget agents that have not described themselves since `before`, but for those named; returns how many. */
export async function forgetAgentHomes(db: Db, before: Date, liveUids: readonly string[]): Promise<number> {
  return db.execute(
    `delete from agent_workloads where seen_at < $1 and not (instance_uid = any($2::text[]))`,
    [before, liveUids],
  )
}
