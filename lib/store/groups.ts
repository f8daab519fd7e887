import type { Scope } from '../model/scopes.ts'
import { columns } from './columns.ts'
import type { Db } from './db.ts'

/** A group of users; its role says what its members may do. */
export interface Group {
  id: string
  name: string
  role: string
  /** Where the role holds; null for everywhere. */
  scope: Scope | null
  isSystem: boolean
  createdAt: Date
}

const GROUP = columns<keyof Group>({
  id: 'id',
  name: 'name',
  role: 'role',
  scope: 'scope',
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

/** SQL for the roles of a user's groups with their scopes, where `g` is the table of these groups. */
export const GRANTS = `coalesce(jsonb_agg(jsonb_build_object('role', g.role, 'scope', g.scope))
  filter (where g.id is not null), '[]')`

/** All groups, those of the system first, then by name. */
export async function listGroups(db: Db): Promise<Group[]> {
  return db.query<Group>(`select ${GROUP.select()} from groups order by is_system desc, name`)
}

/** The group of this id; undefined where there is none. Its row is locked until the transaction ends. */
export async function lockGroup(tx: Db, id: string): Promise<Group | undefined> {
  const rows = await tx.query<Group>(`select ${GROUP.select()} from groups where id = $1 for update`, [id])
  return rows[0]
}

/** Add a group; false where its name is taken. */
export async function insertGroup(tx: Db, group: Group): Promise<boolean> {
  const values = GROUP.valuesOf({ ...group, scope: toJson(group.scope) })
  return (
    (await tx.execute(
      `insert into groups (${GROUP.names}) values (${GROUP.places}) on conflict (name) do nothing`,
      values,
    )) > 0
  )
}

const toJson = (scope: Scope | null): string | null => (scope === null ? null : JSON.stringify(scope))

/** Change what a group gives. A caller must also call `noteApprovers` in the same transaction. */
export async function updateGroup(
  tx: Db,
  { id, role, scope }: Pick<Group, 'id' | 'role' | 'scope'>,
): Promise<void> {
  await tx.execute('update groups set role = $2, scope = $3::jsonb where id = $1', [id, role, toJson(scope)])
}

/** Remove a group that nobody is a member of; false where somebody is. */
export async function deleteGroup(tx: Db, id: string): Promise<boolean> {
  return (
    (await tx.execute(
      'delete from groups where id = $1 and not exists (select from user_groups where group_id = $1)',
      [id],
    )) > 0
  )
}

/** The users and service accounts in a group. */
export async function listGroupMembers(
  db: Db,
  id: string,
): Promise<{ userId: string; email: string; kind: string }[]> {
  return db.query(
    `select u.id::text as "userId", u.email, u.kind from user_groups m join users u on u.id = m.user_id
     where m.group_id = $1 order by u.id`,
    [id],
  )
}

/** How many users and service accounts each group has, by its id; those without any are left out. */
export async function countGroupMembers(db: Db): Promise<Map<string, number>> {
  const rows = await db.query<{ id: string; count: number }>(
    'select group_id as id, count(*)::int as count from user_groups group by group_id',
  )
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/** The groups of a user, by name. */
export async function listUserGroups(db: Db, userId: string): Promise<Group[]> {
  return db.query<Group>(
    `SELECT ${GROUP.select('g')}
     FROM user_groups m JOIN groups g ON g.id = m.group_id WHERE m.user_id = $1 ORDER BY g.name`,
    [userId],
  )
}

/** Whether any person is a member of a group with the administrator's role. */
export async function hasAdministrator(tx: Db): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from user_groups m join groups g on g.id = m.group_id join users u on u.id = m.user_id
     where g.role = 'administrator' and u.kind <> 'service' limit 1`,
  )
  return rows.length > 0
}

/** Make these the only groups of a user; `lib/identity/memberships/memberships.ts` says what else belongs to that. */
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
