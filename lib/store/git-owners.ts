import type { Db } from './db.ts'
import { LOCK_SPACE } from './lock-statements.ts'

// The locks of owners are beside those of LOCK_SPACE: an owner's is a number that its name gives.
const OWNERS_SPACE = LOCK_SPACE + 1

/** Make changes of what an owner in Git keeps take turns, until the transaction ends. */
export async function lockOwner(tx: Db, owner: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(${OWNERS_SPACE}, hashtext($1))`, [owner])
}

/**
 * Whether another account than this user applied something that the owner keeps. An account that is gone by now counts
 * as another.
 */
export async function isSpokenForByAnother(db: Db, owner: string, userId: string): Promise<boolean> {
  const rows = await db.query(
    `select 1 from managed_configs where owner = $1 and applied_by_id is distinct from $2
     union all
     select 1 from git_wishes where owner = $1 and applied_by_id is distinct from $2
     union all
     select 1 from managed_fleet_configs where owner = $1 and applied_by_id is distinct from $2
     limit 1`,
    [owner, userId],
  )
  return rows.length > 0
}

/** The accounts that speak for an owner, by id: one, unless it is gone. */
export async function listSpeakers(db: Db, owner: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `select applied_by_id::text as id from managed_configs where owner = $1 and applied_by_id is not null
     union select applied_by_id::text from git_wishes where owner = $1 and applied_by_id is not null
     union select applied_by_id::text from managed_fleet_configs where owner = $1 and applied_by_id is not null`,
    [owner],
  )
  return rows.map((row) => row.id)
}

/** What of an owner is handed over, and to whom. */
export interface HandOver {
  owner: string
  toOwner: string
  /** The account that speaks for it from then on, and its name. */
  accountId: string
  account: string
  now: Date
  /** Ids; null for all that the owner keeps. */
  only: readonly string[] | null
}

const WORKLOADS = 'owner = $1 and ($2::text[] is null or workload_id = any($2))'

/**
 * Lock the requests of the owner and of its heir, for what is handed over, that nobody has pushed or ended: before what Git
 * asks for is touched, and the newest first, as by whoever approves or pushes one.
 */
export async function lockRequestsOf(tx: Db, of: HandOver, groups: readonly string[]): Promise<void> {
  await tx.query(
    `select from approvals
     where target_group = any($3::text[]) and status in ('pending', 'approved') and workload_id in (
       select workload_id from managed_configs where ${WORKLOADS}
       union all select workload_id from git_wishes where ${WORKLOADS})
     order by created_at desc, id desc for update`,
    [of.owner, of.only, groups],
  )
}

/** Forget what the heir itself asked for where it gets what the owner has; returns the workloads. */
export async function deleteWishesOfHeir(tx: Db, of: HandOver): Promise<string[]> {
  if (of.toOwner === of.owner) return []
  const rows = await tx.query<{ id: string }>(
    `delete from git_wishes where owner = $3 and workload_id in (
       select workload_id from managed_configs where ${WORKLOADS}
       union all select workload_id from git_wishes where ${WORKLOADS})
     returning workload_id as id`,
    [of.owner, of.only, of.toOwner],
  )
  return rows.map((row) => row.id)
}

/** Forget what the former owner asks for where the heir keeps the workload; returns the workloads. */
export async function deleteWishesWhereHeirKeeps(tx: Db, of: HandOver): Promise<string[]> {
  if (of.toOwner === of.owner) return []
  const rows = await tx.query<{ id: string }>(
    `delete from git_wishes where ${WORKLOADS}
       and workload_id in (select workload_id from managed_configs where owner = $3)
     returning workload_id as id`,
    [of.owner, of.only, of.toOwner],
  )
  return rows.map((row) => row.id)
}

/**
 * Say that this transaction takes to the heir by itself what was asked for (`handOverUnseen`): the triggers that do it for older
 * binaries, which keep every name, let it be.
 */
export async function sayHandsOverItself(tx: Db): Promise<void> {
  await tx.query(`select set_config('muster.hands_over_itself', 'yes', true)`)
}

/**
 * Hand workloads that an owner keeps or asks for over, with all that is known of them; returns those that it did. The
 * heir must ask for nothing of these.
 */
export async function handOverWorkloads(tx: Db, of: HandOver): Promise<string[]> {
  const ids: string[] = []
  for (const table of ['managed_configs', 'git_wishes']) {
    const rows = await tx.query<{ id: string }>(
      `update ${table} set owner = $3, applied_by_id = $4, applied_by = $5
       where ${WORKLOADS} returning workload_id as id`,
      [of.owner, of.only, of.toOwner, of.accountId, of.account],
    )
    ids.push(...rows.map((row) => row.id))
  }
  return ids
}

/**
 * The same of fleet configs; returns those that it did, with their names. Whom these accounts name of their versions from then
 * on does not count for them (`handed_at`), and of what is back with who wrote it whom that names does.
 */
export async function handOverFleetConfigs(
  tx: Db,
  of: HandOver,
  formerIds: readonly string[],
): Promise<{ id: string; name: string }[]> {
  const handed = await tx.query<{ id: string; name: string }>(
    `update managed_fleet_configs m set owner = $2, applied_by_id = $3, applied_by = $4
     from fleet_configs f where f.id = m.fleet_config_id
       and m.owner = $1 and ($5::text[] is null or f.id::text = any($5)) returning f.id::text as id, f.name`,
    [of.owner, of.toOwner, of.accountId, of.account, of.only],
  )
  await tx.execute(
    `update fleet_config_versions set handed_at = ${handedAt('author_id')}
     where fleet_config_id::text = any($4::text[]) and author_id = any($1::text[] || $2::text)`,
    [formerIds, of.accountId, of.now, handed.map(({ id }) => id)],
  )
  return handed
}

/** SQL for when something was handed over for whoever asked for it, now by `$1` to `$2`, at `$3`; null where it is back. */
const handedAt = (askerId: string): string =>
  `case when ${askerId} = $2 then null when ${askerId} = any($1::text[]) then coalesce(handed_at, $3) else handed_at end`

/**
 * Give the requests of these workloads that nobody has pushed or ended from one group to another, and note of those too that
 * are pushed or ended that they were handed over, as of versions. Of a workload's the newest is locked first, as by whoever
 * approves or pushes one; each is changed once, or the workload's row would be locked with it.
 */
export async function moveRequests(
  tx: Db,
  { accountId, now }: Pick<HandOver, 'accountId' | 'now'>,
  of: { workloadIds: readonly string[]; from: string; to: string; formerIds: readonly string[] },
): Promise<void> {
  await tx.execute(
    `with open as materialized (
       select id from approvals
       where workload_id = any($4::text[]) and target_group = $5 and status in ('pending', 'approved')
       order by created_at desc, id desc for update)
     update approvals set handed_at = ${handedAt('requester_id')},
       target_group = case when id in (select id from open) then $6 else target_group end
     where workload_id = any($4::text[]) and target_group = $5
       and (id in (select id from open) or requester_id = any($1::text[] || $2::text))`,
    [of.formerIds, accountId, now, of.workloadIds, of.from, of.to],
  )
}
