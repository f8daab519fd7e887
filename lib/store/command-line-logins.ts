import type { Db } from './db.ts'

/** A sign-in of a command line that was confirmed; its code is not kept. */
export interface ConfirmedLogin {
  userId: string
  /** The session in which it was confirmed. */
  sessionId: string
  email: string
  challenge: string
  machine: string
  expiresAt: Date
}

/** Add a confirmed sign-in, and forget the oldest ones of the same user beyond `openMax`. */
export async function insertConfirmedLogin(
  tx: Db,
  login: Omit<ConfirmedLogin, 'email'> & { codeHash: string; createdAt: Date },
  openMax: number,
): Promise<void> {
  await tx.execute(
    `insert into command_line_logins (code_hash, user_id, session_id, challenge, machine, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      ...[login.codeHash, login.userId, login.sessionId, login.challenge, login.machine],
      ...[login.createdAt, login.expiresAt],
    ],
  )
  await tx.execute(
    `delete from command_line_logins where code_hash in (
       select code_hash from command_line_logins where user_id = $1
       order by created_at desc, code_hash = $2 desc, code_hash offset $3)`,
    [login.userId, login.codeHash, openMax],
  )
}

/** Remove and return the sign-in of this code, expired or not, for a code is tried once; undefined when none has it. */
export async function takeConfirmedLogin(tx: Db, codeHash: string): Promise<ConfirmedLogin | undefined> {
  const rows = await tx.query<ConfirmedLogin>(
    `delete from command_line_logins c using users u where c.code_hash = $1 and u.id = c.user_id
     returning c.user_id as "userId", c.session_id as "sessionId", u.email, c.challenge, c.machine, c.expires_at as "expiresAt"`,
    [codeHash],
  )
  return rows[0]
}

/** Forget confirmed sign-ins that expired before their command line took them. */
export async function deleteExpiredConfirmedLogins(tx: Db, now: Date): Promise<number> {
  return tx.execute('delete from command_line_logins where expires_at <= $1', [now])
}
