import { columns } from './columns.ts'
import type { Db } from './db.ts'

/** What an owner in Git asks for, and with an approved request of that owner keeps there. */
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
  appliedAt: Date
  /** The name of the account that asked for it, at that time. */
  appliedBy: string
  /** Null where that account is gone. */
  appliedById: string | null
  /** Whether a request of the owner was approved there: only then it keeps others out. */
  isAccepted: boolean
}

const MANAGED = columns<Exclude<keyof ManagedConfig, 'isAccepted'>>({
  workloadId: 'workload_id',
  owner: 'owner',
  configHash: 'config_hash',
  approvalId: 'approval_id',
  commitSha: 'commit_sha',
  commitAuthor: 'commit_author',
  ranCommitSha: 'ran_commit_sha',
  appliedAt: 'applied_at',
  appliedBy: 'applied_by',
  appliedById: 'applied_by_id',
})
const ACCEPTED = `${MANAGED.select()}, true as "isAccepted"`
const WISHED = `${MANAGED.select()}, false as "isAccepted"`

/** Which entries are read: of one owner, or of all, for one workload, or for all. */
interface Filter {
  owner: string | null
  workloadId: string | null
}

const FILTER = '($1::text is null or owner = $1) and ($2::text is null or workload_id = $2)'

/** The entries that keep others out, by workload. */
export async function listManagedConfigs(db: Db, { owner, workloadId }: Filter): Promise<ManagedConfig[]> {
  return db.query<ManagedConfig>(
    `select ${ACCEPTED} from managed_configs where ${FILTER} order by workload_id`,
    [owner, workloadId],
  )
}

/** What owners in Git ask for, whether that keeps others out or not; by workload, what does first. */
export async function listWishes(db: Db, { owner, workloadId }: Filter): Promise<ManagedConfig[]> {
  return db.query<ManagedConfig>(
    `select ${ACCEPTED} from managed_configs where ${FILTER}
     union all select ${WISHED} from git_wishes where ${FILTER}
     order by "workloadId", "isAccepted" desc, "appliedAt", owner`,
    [owner, workloadId],
  )
}

const WISH = [
  ...(['configHash', 'approvalId', 'commitSha', 'commitAuthor', 'ranCommitSha'] as const),
  ...(['appliedAt', 'appliedBy', 'appliedById'] as const),
]

/** Store what Git asks for. The workload's row must be locked, and no other owner may keep it. */
export async function keepManagedConfig(tx: Db, wish: ManagedConfig): Promise<void> {
  const [table, key] = wish.isAccepted
    ? ['managed_configs', 'workload_id']
    : ['git_wishes', 'workload_id, owner']
  await tx.execute(
    `insert into ${table} (${MANAGED.names}) values (${MANAGED.places})
     on conflict (${key}) do update
       set ${MANAGED.replaced(...WISH)}
       where ${table}.owner = excluded.owner`,
    MANAGED.valuesOf(wish),
  )
}

/** Let what an owner asks for keep others out from now on, unless another owner's does already. */
export async function acceptWish(tx: Db, workloadId: string, owner: string): Promise<void> {
  await tx.execute(
    `insert into managed_configs (${MANAGED.names})
     select ${MANAGED.names} from git_wishes where workload_id = $1 and owner = $2 on conflict do nothing`,
    [workloadId, owner],
  )
  await tx.execute(
    `delete from git_wishes g where g.workload_id = $1 and g.owner = $2
       and exists (select from managed_configs m where m.workload_id = g.workload_id and m.owner = g.owner)`,
    [workloadId, owner],
  )
}

/** Leave a workload to people again; null when this owner asks for nothing there. */
export async function deleteManagedConfig(
  tx: Db,
  workloadId: string,
  owner: string,
): Promise<ManagedConfig | null> {
  const rows = await tx.query<ManagedConfig>(
    `with accepted as (delete from managed_configs where workload_id = $1 and owner = $2 returning *),
       wished as (delete from git_wishes where workload_id = $1 and owner = $2 returning *)
     select ${ACCEPTED} from accepted union all select ${WISHED} from wished order by "isAccepted" desc`,
    [workloadId, owner],
  )
  return rows[0] ?? null
}
