import type { AuditFailure, AuditTrail } from '../audit/trail.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import type { Database } from '../store/db.ts'
import { deleteUserSessions } from '../store/sessions.ts'
import { findPasswordHash, updatePassword } from '../store/users.ts'
import { toEmailKey } from './emails.ts'
import type { SessionEnds } from './identity.ts'
import type { LoginLimit } from './login-limit.ts'
import { type Busy, type PasswordRefusal, type Passwords, refusePassword } from './passwords.ts'

/** Neither password is empty. */
export interface PasswordChange {
  actor: { userId: string; email: string; sessionId: string }
  address: string
  currentPassword: string
  newPassword: string
}

export type PasswordChangeOutcome =
  | { ok: true }
  | PasswordRefusal
  | Refusal<'password-mismatch' | 'password-unchanged' | 'unauthorized'>
  | { ok: false; code: 'login-limited'; retryAfterS: number }
  | Busy
  | AuditFailure

interface Parts {
  db: Database
  audit: AuditTrail
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
  { db, audit, passwords, ends }: Parts,
  { actor, currentPassword, newPassword }: PasswordChange,
): Promise<PasswordChangeOutcome> {
  const currentHash = await findPasswordHash(db, actor.userId)
  if (currentHash === undefined) return { ok: false, code: 'unauthorized' }
  const checked = await passwords.verify(currentPassword, currentHash)
  if (!checked.ok) return checked
  if (!checked.fits) return { ok: false, code: 'password-mismatch' }
  const hashed = await passwords.hash(newPassword)
  if (!hashed.ok) return hashed
  let ended: string[] = []
  const changed = await audit.change(async (tx, record) => {
    // Another change may have come first; then the current password is no longer the one that was checked.
    if (!(await updatePassword(tx, actor.userId, hashed.hash, currentHash))) return false
    ended = await deleteUserSessions(tx, actor.userId, actor.sessionId)
    const { userId, email } = actor
    await record({
      action: 'auth.password.change',
      actor: { userId, email },
      resource: 'user',
      resourceId: userId,
    })
    return true
  })
  const isApplied = changed.ok ? changed.value : changed.sideEffect === 'applied'
  if (isApplied) ends.announce(ended)
  if (!changed.ok) return changed
  return changed.value ? { ok: true } : { ok: false, code: 'password-mismatch' }
}
