import { columns } from './columns.ts'
import type { Db } from './db.ts'

/** A group of users; its role says what its members may do. */
export interface Group {
  id: string
  name: string
  role: string
  isSystem: boolean
  createdAt: Date
}

const GROUP = columns<keyof Group>({
  id: 'id',
  name: 'name',
  role: 'role',
  isSystem: 'is_system',
  createdAt: 'created_at',
})

/** The groups with these names; unknown names are missing from the answer. */
export async function findGroups(db: Db, names: readonly string[]): Promise<Group[]> {
  return db.query<Group>(
    `SELECT ${GROUP.select()} FROM groups WHERE name = ANY($1::text[]) ORDER BY name`,
    // PostgreSQL refuses to look for U+0000, which no name has.
    [names.filter((name) => !name.includes('\0'))],
  )
}

/** The groups of a user, by name. */
export async function listUserGroups(db: Db, userId: string): Promise<Group[]> {
  return db.query<Group>(
    `SELECT ${GROUP.select('g')}
     FROM user_groups m JOIN groups g ON g.id = m.group_id WHERE m.user_id = $1 ORDER BY g.name`,
    [userId],
  )
}

/**
 * Make these the only groups of a user. A caller by which a second person may come to hold a role must also call
 * `noteApprovers` in the same transaction.
 */
export async function replaceUserGroups(tx: Db, userId: string, groupIds: readonly string[]): Promise<void> {
  await tx.execute('DELETE FROM user_groups WHERE user_id = $1 AND group_id <> ALL($2::text[])', [
    userId,
    groupIds,
  ])
  await tx.execute(
    `INSERT INTO user_groups (user_id, group_id) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING`,
    [userId, groupIds],
  )
}

/** Whether any person but `userId` is a member of a group with the administrator's role. */
export async function hasOtherAdministrator(tx: Db, userId: string): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 FROM user_groups m JOIN groups g ON g.id = m.group_id
       JOIN users u ON u.id = m.user_id
     WHERE g.role = 'administrator' AND u.kind <> 'service' AND m.user_id <> $1 LIMIT 1`,
    [userId],
  )
  return rows.length > 0
}
