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
     select 1 from managed_fleet_configs where owner = $1 and applied_by_id is distinct from $2
     limit 1`,
    [owner, userId],
  )
  return rows.length > 0
}
