import type { Db } from './db.ts'

/** A workload whose config is kept in Git. */
export interface ManagedConfig {
  workloadId: string
  owner: string
  /** What Git asks for, which need not be what runs. */
  configHash: string
  /** Of the commit that first asked for it; empty where nobody said. */
  commitSha: string
  commitAuthor: string
  appliedAt: Date
  appliedBy: string
}

const COLUMNS = `workload_id as "workloadId", owner, config_hash as "configHash", commit_sha as "commitSha",
  commit_author as "commitAuthor", applied_at as "appliedAt", applied_by as "appliedBy"`

/** Who keeps a workload's config in Git; null for nobody. */
export async function findManagedConfig(db: Db, workloadId: string): Promise<ManagedConfig | null> {
  const rows = await db.query<ManagedConfig>(
    `select ${COLUMNS} from managed_configs where workload_id = $1`,
    [workloadId],
  )
  return rows[0] ?? null
}

/** What is kept, of one owner or of all and of one workload or of all; by workload. */
export async function listManagedConfigs(
  db: Db,
  { owner, workloadId }: { owner: string | null; workloadId: string | null },
): Promise<ManagedConfig[]> {
  return db.query<ManagedConfig>(
    `select ${COLUMNS} from managed_configs 
     where ($1::text is null or owner = $1) and ($2::text is null or workload_id = $2) order by workload_id`,
    [owner, workloadId],
  )
}

/** Note a wish; false when the workload is another owner's. Its row must be locked. */
export async function keepManagedConfig(tx: Db, wish: ManagedConfig): Promise<boolean> {
  const rows = await tx.query<{ owner: string }>(
    `insert into managed_configs (workload_id, owner, config_hash, commit_sha, commit_author, applied_at, applied_by)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (workload_id) do update set config_hash = excluded.config_hash, commit_sha = excluded.commit_sha,
       commit_author = excluded.commit_author, applied_at = excluded.applied_at, applied_by = excluded.applied_by
       where managed_configs.owner = excluded.owner
     returning owner`,
    [
      ...[wish.workloadId, wish.owner, wish.configHash, wish.commitSha, wish.commitAuthor],
      ...[wish.appliedAt, wish.appliedBy],
    ],
  )
  return rows.length > 0
}

/** Leave a workload to people again; null when this owner does not keep it. */
export async function deleteManagedConfig(
  tx: Db,
  workloadId: string,
  owner: string,
): Promise<ManagedConfig | null> {
  const rows = await tx.query<ManagedConfig>(
    `delete from managed_configs where workload_id = $1 and owner = $2 returning ${COLUMNS}`,
    [workloadId, owner],
  )
  return rows[0] ?? null
}
