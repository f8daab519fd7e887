import { columns } from './columns.ts'
import type { Db } from './db.ts'

/** A workload whose config is kept in Git. */
export interface ManagedConfig {
  workloadId: string
  owner: string
  /** What Git asks for, which need not be what runs. */
  configHash: string
  /** The request that the wish became; null where nothing was requested for it yet. */
  approvalId: string | null
  /** Of the commit that first asked for it; empty where nobody said. */
  commitSha: string
  commitAuthor: string
  /** Of the commit that first asked for what ran last of what Git asked for before; empty where that is not known. */
  ranCommitSha: string
  /** The text of that commit, which may have been rolled back since; empty where it is not known. */
  ranConfigHash: string
  appliedAt: Date
  /** The name of the account that asked for it, at that time. */
  appliedBy: string
  /** Null where that account is gone. */
  appliedById: string | null
}

const MANAGED = columns<keyof ManagedConfig>({
  workloadId: 'workload_id',
  owner: 'owner',
  configHash: 'config_hash',
  approvalId: 'approval_id',
  commitSha: 'commit_sha',
  commitAuthor: 'commit_author',
  ranCommitSha: 'ran_commit_sha',
  ranConfigHash: 'ran_config_hash',
  appliedAt: 'applied_at',
  appliedBy: 'applied_by',
  appliedById: 'applied_by_id',
})
const COLUMNS = MANAGED.select()

/** A workload's entry in Git; null when no owner keeps the workload there. */
export async function findManagedConfig(db: Db, workloadId: string): Promise<ManagedConfig | null> {
  const rows = await db.query<ManagedConfig>(
    `select ${COLUMNS} from managed_configs where workload_id = $1`,
    [workloadId],
  )
  return rows[0] ?? null
}

/** The entries of one owner, or of all, for one workload, or for all; by workload. */
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

const WISH = [
  ...(['configHash', 'approvalId', 'commitSha', 'commitAuthor', 'ranCommitSha', 'ranConfigHash'] as const),
  ...(['appliedAt', 'appliedBy', 'appliedById'] as const),
]

/** Store what Git asks for. The workload's row must be locked, and no other owner may keep it. */
export async function keepManagedConfig(tx: Db, wish: ManagedConfig): Promise<void> {
  await tx.execute(
    `insert into managed_configs (${MANAGED.names}) values (${MANAGED.places})
     on conflict (workload_id) do update
       set ${MANAGED.replaced(...WISH)}
       where managed_configs.owner = excluded.owner`,
    MANAGED.valuesOf(wish),
  )
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
