import type { RoleGrant } from '../model/scopes.ts'
import type { Db } from './db.ts'
import { GRANTS } from './groups.ts'

/** A live session with the authority of its user as it is now. */
export interface SessionRow {
  userId: string
  email: string
  expiresAt: Date
  /** The session at the identity provider that it was opened through; null where none is known. */
  providerSession: string | null
  /** Sorted names. */
  groups: string[]
  roles: RoleGrant[]
}

/** Add a session of a user; one opened through an identity provider has its `issuer` and the session there. */
export async function insertSession(
  tx: Db,
  session: {
    id: string
    userId: string
    createdAt: Date
    expiresAt: Date
    issuer?: string
    providerSession?: string | null
  },
): Promise<void> {
  await tx.execute(
    `INSERT INTO sessions (id, user_id, created_at, expires_at, issuer, provider_session)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      session.id,
      session.userId,
      session.createdAt,
      session.expiresAt,
      session.issuer ?? null,
      session.providerSession ?? null,
    ],
  )
}

/** The session of this id, if it has not expired at `now`. */
export async function findSession(db: Db, id: string, now: Date): Promise<SessionRow | undefined> {
  const rows = await db.query<SessionRow>(
    `SELECT s.user_id AS "userId", u.email, s.expires_at AS "expiresAt",
       s.provider_session AS "providerSession",
       array_remove(array_agg(g.name ORDER BY g.name), NULL) AS groups, ${GRANTS} AS roles
     FROM sessions s JOIN users u ON u.id = s.user_id
       LEFT JOIN user_groups m ON m.user_id = u.id LEFT JOIN groups g ON g.id = m.group_id
     WHERE s.id = $1 AND s.expires_at > $2
     GROUP BY s.id, u.id`,
    [id, now],
  )
  return rows[0]
}

/**
 * Whether a user's session stands at `now`. One that does cannot be ended before the transaction has: whoever ends it
 * waits.
 */
export async function keepSession(
  tx: Db,
  { id, userId }: { id: string; userId: string },
  now: Date,
): Promise<boolean> {
  const rows = await tx.query(
    'SELECT FROM sessions WHERE id = $1 AND user_id = $2 AND expires_at > $3 FOR KEY SHARE',
    [id, userId, now],
  )
  return rows.length > 0
}

/** Which of these are sessions or API tokens that were neither ended nor taken away. */
export async function listStandingSessions(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(
    `SELECT id FROM sessions WHERE id = ANY($1::uuid[]) UNION ALL SELECT id FROM api_tokens WHERE id = ANY($1::uuid[])`,
    [ids],
  )
  return new Set(rows.map((row) => row.id))
}

/** End one session; true when it existed. */
export async function deleteSession(tx: Db, id: string): Promise<boolean> {
  return (await tx.execute('DELETE FROM sessions WHERE id = $1', [id])) > 0
}

/** End a user's sessions but for `exceptId`; returns the ended ones' ids. */
export async function deleteUserSessions(tx: Db, userId: string, exceptId: string | null): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    'DELETE FROM sessions WHERE user_id = $1 AND id IS DISTINCT FROM $2::uuid RETURNING id',
    [userId, exceptId],
  )
  return rows.map((row) => row.id)
}

/** Forget sessions whose tokens have expired. */
export async function deleteExpiredSessions(tx: Db, now: Date): Promise<number> {
  return tx.execute('DELETE FROM sessions WHERE expires_at <= $1', [now])
}
