import type { Db } from './db.ts'

/** One of the things that a workload's record counts. */
export interface OfWorkload {
  workloadId: string
  id: string
}

interface Row {
  workload_id: string
  id: string
}

const toOfWorkload = (row: Row): OfWorkload => ({ workloadId: row.workload_id, id: row.id })

/** Every open alert; `workloadId` is '' for one that is about no workload. */
export async function listOpenAlertIds(db: Db): Promise<OfWorkload[]> {
  return (
    await db.query<Row>(
      `select coalesce(workload_id, '') as workload_id, id from alerts where resolved_at is null`,
    )
  ).map(toOfWorkload)
}

/** Every request that waits for an approval. */
export async function listPendingApprovalIds(db: Db): Promise<OfWorkload[]> {
  return (await db.query<Row>(`select workload_id, id from approvals where status = 'pending'`)).map(
    toOfWorkload,
  )
}

/** The label of every labelled revision. */
export async function listLabels(db: Db): Promise<{ workloadId: string; hash: string; label: string }[]> {
  const rows = await db.query<{ workload_id: string; config_hash: string; label: string }>(
    `select workload_id, config_hash, label from revision_labels order by workload_id, config_hash`,
  )
  return rows.map((row) => ({ workloadId: row.workload_id, hash: row.config_hash, label: row.label }))
}

/** Set the label of a hash on a workload; an empty one takes it away. */
export async function setLabel(tx: Db, workloadId: string, hash: string, label: string): Promise<void> {
  if (label === '') {
    await tx.execute(`delete from revision_labels where workload_id = $1 and config_hash = $2`, [
      workloadId,
      hash,
    ])
    return
  }
  await tx.execute(
    `insert into revision_labels (workload_id, config_hash, label) values ($1, $2, $3)
     on conflict (workload_id, config_hash) do update set label = excluded.label`,
    [workloadId, hash, label],
  )
}
