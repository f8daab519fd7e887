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

/** Lift a hash's quarantines, as an operator's push or rollback does; returns their uids, '' for the whole workload. */
export async function liftQuarantines(tx: Db, workloadId: string, hash: string): Promise<string[]> {
  const rows = await tx.query<{ instance_uid: string }>(
    `delete from quarantines where workload_id = $1 and config_hash = $2 returning instance_uid`,
    [workloadId, hash],
  )
  return rows.map((row) => row.instance_uid)
}

/** The hashes that are quarantined for a whole workload. */
export async function listWorkloadQuarantines(db: Db, workloadId: string): Promise<string[]> {
  const rows = await db.query<{ config_hash: string }>(
    `select config_hash from quarantines where workload_id = $1 and instance_uid = '' order by config_hash`,
    [workloadId],
  )
  return rows.map((row) => row.config_hash)
}

/** Remember with a push the instances whose quarantines it lifted; '' stands for the whole workload. */
export async function insertLifted(tx: Db, pushId: string, uids: readonly string[]): Promise<void> {
  if (uids.length === 0) return
  await tx.execute(
    `insert into lifted_quarantines (push_id, instance_uid) select $1, uid from unnest($2::text[]) as uid`,
    [pushId, uids],
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
