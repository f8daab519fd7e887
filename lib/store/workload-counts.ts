import type { Db } from './db.ts'

/** How many of something a workload has. */
export interface WorkloadCount {
  workloadId: string
  count: number
}

interface Row {
  workload_id: string
  count: number
}

const toCount = (row: Row): WorkloadCount => ({ workloadId: row.workload_id, count: row.count })

/** Open alerts of each workload that has one. */
export async function countOpenAlerts(db: Db): Promise<WorkloadCount[]> {
  const rows = await db.query<Row>(
    `select workload_id, count(*)::int as count from alerts where resolved_at is null group by 1 order by 1`,
  )
  return rows.map(toCount)
}

/** Requests that wait for an approval, of each workload that has one. */
export async function countPendingApprovals(db: Db): Promise<WorkloadCount[]> {
  const rows = await db.query<Row>(
    `select workload_id, count(*)::int as count from approvals where status = 'pending' group by 1 order by 1`,
  )
  return rows.map(toCount)
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
