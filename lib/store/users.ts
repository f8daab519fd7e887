import type { CursorKey, Page } from './cursor.ts'
import type { Db } from './db.ts'
import { LOCK_SPACE } from './lock-statements.ts'

const IDENTITY_LOCK = 3

/** A user as others see it. */
export interface User {
  id: string
  email: string
  /** Sorted names. */
  groups: string[]
  createdAt: Date
  lastLoginAt: Date | null
  /** False of a user who came by an identity provider. */
  hasPassword: boolean
  /** Whether the user signs in with an identity provider. */
  isBound: boolean
}

/** Make changes of users and memberships take turns, until the transaction ends. */
export async function lockIdentity(tx: Db): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(${LOCK_SPACE}, ${IDENTITY_LOCK})`)
}

/**
 * The user who logs in, with the hash that the password must fit, and whether that is somebody of an identity provider
 * by now; `emailKey` as `toEmailKey` makes it.
 */
export async function findCredentials(
  db: Db,
  emailKey: string,
): Promise<{ id: string; email: string; passwordHash: string; isBound: boolean } | undefined> {
  const rows = await db.query<{ id: string; email: string; passwordHash: string; isBound: boolean }>(
    `SELECT id, email, password_hash AS "passwordHash", issuer IS NOT NULL AS "isBound" FROM users WHERE email_key = $1`,
    [emailKey],
  )
  return rows[0]
}

/** The stored hash of a user's password; null for one without or of an identity provider, undefined when it is gone. */
export async function findPasswordHash(db: Db, userId: string): Promise<string | null | undefined> {
  const rows = await db.query<{ password_hash: string | null }>(
    'SELECT CASE WHEN issuer IS NULL THEN password_hash END AS password_hash FROM users WHERE id = $1',
    [userId],
  )
  return rows[0]?.password_hash
}

/** Add a user; false when the e-mail is taken. */
export async function insertUser(
  tx: Db,
  user: { id: string; email: string; emailKey: string; passwordHash: string; createdAt: Date },
): Promise<boolean> {
  const inserted = await tx.execute(
    `INSERT INTO users (id, email, email_key, password_hash, created_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (email_key) DO NOTHING`,
    [user.id, user.email, user.emailKey, user.passwordHash, user.createdAt],
  )
  return inserted > 0
}

/**
 * Note a login with a password; false when the user is gone, is of an identity provider by now, or its password is no
 * longer the one that was checked.
 */
export async function noteLogin(tx: Db, userId: string, passwordHash: string, now: Date): Promise<boolean> {
  const text = 'UPDATE users SET last_login_at = $3 WHERE id = $1 AND password_hash = $2 AND issuer IS NULL'
  return (await tx.execute(text, [userId, passwordHash, now])) > 0
}

/** Replace a password; with `expectedHash`, only while that is the stored one. False when nothing fitted. */
export async function updatePassword(
  tx: Db,
  userId: string,
  passwordHash: string,
  expectedHash: string | null,
): Promise<boolean> {
  const text =
    'UPDATE users SET password_hash = $2 WHERE id = $1 AND ($3::text IS NULL OR password_hash = $3)'
  return (await tx.execute(text, [userId, passwordHash, expectedHash])) > 0
}

/** Note whether a user is an administrator only because nobody else is one. */
export async function noteKeptAdministrator(tx: Db, userId: string, isKept: boolean): Promise<void> {
  await tx.execute(
    'update users set is_kept_administrator = $2 where id = $1 and is_kept_administrator <> $2',
    [userId, isKept],
  )
}

/**
 * Remove a user with its memberships, preferences, sessions and tokens. Who changed the account is remembered for a while
 * from now on.
 */
export async function deleteUser(tx: Db, userId: string, now: Date): Promise<void> {
  await tx.execute('UPDATE account_changes SET gone_at = $2 WHERE user_id = $1', [userId, now])
  await tx.execute('DELETE FROM users WHERE id = $1', [userId])
}

/** Whether there is any user. */
export async function hasUsers(db: Db): Promise<boolean> {
  return (await db.query('SELECT 1 FROM users LIMIT 1')).length > 0
}

const SELECT_USERS = `SELECT u.id, u.email, u.created_at AS "createdAt", u.last_login_at AS "lastLoginAt",
    u.password_hash IS NOT NULL AS "hasPassword", u.issuer IS NOT NULL AS "isBound",
    ARRAY(SELECT g.name FROM user_groups m JOIN groups g ON g.id = m.group_id WHERE m.user_id = u.id ORDER BY g.name)
      AS groups
  FROM users u`

/** One person; service accounts are none. */
export async function findUser(db: Db, id: string): Promise<User | undefined> {
  const rows = await db.query<User>(`${SELECT_USERS} WHERE u.id = $1 AND u.kind <> 'service'`, [id])
  return rows[0]
}

/** The user or service account of this id, this e-mail or this name after `service:`; null where none or several are meant. */
export async function findAccountSaid(db: Db, said: string): Promise<{ id: string; email: string } | null> {
  const rows = await db.query<{ id: string; email: string }>(
    `SELECT id, email FROM users
     WHERE id::text = $1 OR (kind = 'service' AND email = $1) OR (kind <> 'service' AND lower(email) = lower($1)) LIMIT 2`,
    [said],
  )
  return rows.length === 1 ? rows[0]! : null
}

/** What these accounts are called; those that are gone are left out. */
export async function listNamesOf(db: Db, ids: readonly string[]): Promise<{ id: string; name: string }[]> {
  return db.query<{ id: string; name: string }>(
    `SELECT id::text AS id, email AS name FROM users WHERE id::text = ANY($1::text[]) ORDER BY email, id`,
    [ids],
  )
}

/** What everybody is called, by id, whoever signed in last first; at most `most`. */
export async function listNames(db: Db, most: number): Promise<Map<string, string>> {
  const rows = await db.query<{ id: string; name: string }>(
    'SELECT id::text AS id, email AS name FROM users ORDER BY last_login_at DESC NULLS LAST, id LIMIT $1',
    [most],
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** What those `most` administrators are called who signed in last, by name: their order does not tell who came when. */
export async function listAdministratorNames(db: Db, most: number): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `SELECT name FROM (
       SELECT u.email AS name FROM users u
       WHERE u.kind <> 'service' AND EXISTS (
         SELECT FROM user_groups m JOIN groups g ON g.id = m.group_id WHERE m.user_id = u.id AND g.role = 'administrator')
       ORDER BY u.last_login_at DESC NULLS LAST, u.email LIMIT $1) last
     ORDER BY name`,
    [most],
  )
  return rows.map(({ name }) => name)
}

/** The key of a user in the order of `listUsers`. */
export const userKey = (user: User): CursorKey => [user.createdAt.getTime(), user.id]

/** People, the oldest account first. */
export async function listUsers(db: Db, page: Page): Promise<User[]> {
  const [createdAtMs, id] = page.after ?? [null, null]
  return db.query<User>(
    `${SELECT_USERS}
     WHERE u.kind <> 'service' AND ($2::timestamptz IS NULL OR (u.created_at, u.id::text) > ($2, $3))
     ORDER BY u.created_at, u.id::text LIMIT $1`,
    [page.limit, createdAtMs === null ? null : new Date(Number(createdAtMs)), id],
  )
}
