import type { Db } from './db.ts'

/** A config that failed on a workload, or (with a uid) on one instance of it. Nothing offers it by itself. */
export interface Quarantine {
  workloadId: string
  hash: string
  /** '' for the whole workload. */
  instanceUid: string
  pushId: string
}

/** All quarantines, or those of one workload. */
export async function listQuarantines(db: Db, workloadId: string | null = null): Promise<Quarantine[]> {
  const rows = await db.query<{
    workload_id: string
    config_hash: string
    instance_uid: string
    push_id: string
  }>(
    `select workload_id, config_hash, instance_uid, push_id from quarantines
     where $1::text is null or workload_id = $1
     order by workload_id, config_hash, instance_uid`,
    [workloadId],
  )
  return rows.map((row) => ({
    workloadId: row.workload_id,
    hash: row.config_hash,
    instanceUid: row.instance_uid,
    pushId: row.push_id,
  }))
}

/** Add quarantines of workloads that are there; those that exist stay. */
export async function insertQuarantines(
  tx: Db,
  quarantines: readonly Quarantine[],
  now: Date,
): Promise<void> {
  if (quarantines.length === 0) return
  await tx.execute(
    `insert into quarantines (workload_id, config_hash, instance_uid, push_id, created_at)
     select w.id, q.hash, q.uid, q.push_id, $5
     from unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) as q (workload_id, hash, uid, push_id)
     join workloads w on w.id = q.workload_id
     order by w.id, q.hash, q.uid
     on conflict do nothing`,
    [
      quarantines.map((q) => q.workloadId),
      quarantines.map((q) => q.hash),
      quarantines.map((q) => q.instanceUid),
      quarantines.map((q) => q.pushId),
      now,
    ],
  )
}

/**
 * Lift the quarantines of one hash on each of these workloads, as an operator's push or rollback does; returns their
 * uids by workload, '' for the whole workload.
 */
export async function liftQuarantines(
  tx: Db,
  pushed: readonly { workloadId: string; hash: string }[],
): Promise<Map<string, string[]>> {
  const rows = await tx.query<{ workload_id: string; instance_uid: string }>(
    `delete from quarantines q using unnest($1::text[], $2::text[]) as p (workload_id, hash)
     where q.workload_id = p.workload_id and q.config_hash = p.hash and q.workload_id = any($1::text[])
     returning q.workload_id, q.instance_uid`,
    [pushed.map(({ workloadId }) => workloadId), pushed.map(({ hash }) => hash)],
  )
  const uids = new Map<string, string[]>(pushed.map(({ workloadId }) => [workloadId, []]))
  for (const row of rows) uids.get(row.workload_id)!.push(row.instance_uid)
  return uids
}

/** The hashes that are quarantined for a whole workload. */
export async function listWorkloadQuarantines(db: Db, workloadId: string): Promise<string[]> {
  const rows = await db.query<{ config_hash: string }>(
    `select config_hash from quarantines where workload_id = $1 and instance_uid = '' order by config_hash`,
    [workloadId],
  )
  return rows.map((row) => row.config_hash)
}

/** Remember with pushes the instances whose quarantines they lifted; '' stands for the whole workload. */
export async function insertLifted(
  tx: Db,
  lifted: readonly { pushId: string; uids: readonly string[] }[],
): Promise<void> {
  const rows = lifted.flatMap(({ pushId, uids }) => uids.map((uid) => ({ pushId, uid })))
  if (rows.length === 0) return
  await tx.execute(
    `insert into lifted_quarantines (push_id, instance_uid)
     select l.push_id, l.uid from unnest($1::uuid[], $2::text[]) as l (push_id, uid)`,
    [rows.map(({ pushId }) => pushId), rows.map(({ uid }) => uid)],
  )
}

/** The instances whose quarantines these pushes lifted. */
export async function listLifted(
  db: Db,
  pushIds: readonly string[],
): Promise<{ pushId: string; instanceUid: string }[]> {
  const rows = await db.query<{ push_id: string; instance_uid: string }>(
    `select push_id, instance_uid from lifted_quarantines where push_id = any($1::uuid[])`,
    [pushIds],
  )
  return rows.map((row) => ({ pushId: row.push_id, instanceUid: row.instance_uid }))
}
