import type { AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { AuditActor } from '../audit/event.ts'
import { toEmailKey } from '../model/emails.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { deleteUserSessions } from '../store/sessions.ts'
import { findPasswordHash, updatePassword } from '../store/users.ts'
import type { LoginLimit } from './login-limit.ts'
import { type Busy, type PasswordRefusal, type Passwords, refusePassword } from './passwords.ts'
import type { SessionEnds } from './sessions/session-ends.ts'

/** A user changes the own password; neither password is empty. `address` is the address of the peer. */
export interface PasswordChange {
  actor: AuditActor & { sessionId: string }
  address: string
  currentPassword: string
  newPassword: string
}

/** How a change of the own password ended. */
export type PasswordChangeOutcome =
  | { ok: true }
  | PasswordRefusal
  | Refusal<'password-mismatch' | 'password-unchanged' | 'unauthorized' | 'no-password-here'>
  | { ok: false; code: 'login-limited'; retryAfterS: number }
  | Busy
  | AuditFailure

interface Parts {
  db: AuditedDatabase
  passwords: Passwords
  limit: LoginLimit
  ends: SessionEnds
}

/** Change one's own password; all other sessions of the user end. Guesses count like failed logins. */
export function openOwnPassword(parts: Parts): (change: PasswordChange) => Promise<PasswordChangeOutcome> {
  return async (change) => {
    const refused = refusePassword('new_password', change.newPassword)
    if (refused) return refused
    if (change.newPassword === change.currentPassword) return refuse('password-unchanged')
    const begun = parts.limit.begin(change.address, toEmailKey(change.actor.email))
    if (!begun.ok) return { ok: false, code: 'login-limited', retryAfterS: begun.retryAfterS }
    let isGuess = false
    try {
      const outcome = await replace(parts, change)
      isGuess = !outcome.ok && outcome.code === 'password-mismatch'
      return outcome
    } finally {
      if (isGuess) begun.attempt.fail()
      else begun.attempt.cancel()
    }
  }
}

async function replace(
  { db, passwords, ends }: Parts,
  { actor, currentPassword, newPassword }: PasswordChange,
): Promise<PasswordChangeOutcome> {
  const currentHash = await findPasswordHash(db, actor.userId)
  if (currentHash === undefined) return { ok: false, code: 'unauthorized' }
  if (currentHash === null) return { ok: false, code: 'no-password-here' }
  const checked = await passwords.verify(currentPassword, currentHash)
  if (!checked.ok) return checked
  if (!checked.fits) return { ok: false, code: 'password-mismatch' }
  const hashed = await passwords.hash(newPassword)
  if (!hashed.ok) return hashed
  return db.change<PasswordChangeOutcome>('password.change', actor, async (tx) => {
    const { userId, sessionId } = actor
    // Another change may have come first; then the password that was checked is no longer the current one.
    if (!(await updatePassword(tx, userId, hashed.hash, currentHash)))
      return { ok: false, code: 'password-mismatch' }
    const ended = await deleteUserSessions(tx, userId, sessionId)
    tx.afterCommit(() => ends.announce(ended))
    await tx.record({ action: 'auth.password.change', resource: 'user', resourceId: userId })
    return { ok: true }
  })
}
