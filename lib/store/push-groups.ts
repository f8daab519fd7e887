import type { Selector } from '../wire/selectors.ts'
import type { Db } from './db.ts'

/** A named selector of workloads. */
export interface StoredPushGroup {
  id: string
  name: string
  /** Empty when there is none. */
  description: string
  selector: Selector
}

const COLUMNS = 'id, name, description, selector'

/** All groups in the order in which they were made. */
export async function listPushGroups(db: Db): Promise<StoredPushGroup[]> {
  return db.query<StoredPushGroup>(`select ${COLUMNS} from push_groups order by position, id`)
}

/** One group; null when there is none. */
export async function findPushGroup(db: Db, id: string): Promise<StoredPushGroup | null> {
  const rows = await db.query<StoredPushGroup>(`select ${COLUMNS} from push_groups where id = $1`, [id])
  return rows[0] ?? null
}

/** Add a group; false when its id is taken. */
export async function insertPushGroup(tx: Db, group: StoredPushGroup): Promise<boolean> {
  const touched = await tx.execute(
    `insert into push_groups (id, name, description, selector) values ($1, $2, $3, $4::jsonb)
     on conflict (id) do nothing`,
    [group.id, group.name, group.description, JSON.stringify(group.selector)],
  )
  return touched === 1
}

/** Replace what a group says; false when there is none. */
export async function updatePushGroup(tx: Db, group: StoredPushGroup): Promise<boolean> {
  const touched = await tx.execute(
    `update push_groups set name = $2, description = $3, selector = $4::jsonb where id = $1`,
    [group.id, group.name, group.description, JSON.stringify(group.selector)],
  )
  return touched === 1
}

/** Remove a group; false when there was none. */
export async function deletePushGroup(tx: Db, id: string): Promise<boolean> {
  return (await tx.execute(`delete from push_groups where id = $1`, [id])) === 1
}
