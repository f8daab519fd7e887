import type { AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { AuditActor } from '../audit/event.ts'
import type { Clock } from '../clock.ts'
import { toEmailKey } from '../model/emails.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import {
  type ApiToken,
  deleteUserApiTokens,
  deleteUserLoginTokens,
  listApiTokens,
} from '../store/api-tokens.ts'
import { deleteUserSessions } from '../store/sessions.ts'
import { findPasswordHash, lockIdentity, updatePassword } from '../store/users.ts'
import type { LoginLimit } from './login-limit.ts'
import { type Busy, type PasswordRefusal, type Passwords, refusePassword } from './passwords.ts'
import type { SessionEnds } from './sessions/session-ends.ts'

/**
 * A user changes the own password; neither password is empty. `address` is the address of the peer. `keepTokens` lets the
 * API tokens live that the user made; those of command lines, which signed in, end in any case.
 */
export interface PasswordChange {
  actor: AuditActor & { sessionId: string }
  address: string
  currentPassword: string
  newPassword: string
  keepTokens: boolean
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
  clock: Clock
  passwords: Passwords
  limit: LoginLimit
  ends: SessionEnds
}

/**
 * Change one's own password; all other sessions of the user end, and the API tokens, for whoever knew the password may
 * have made some. Guesses count like failed logins.
 */
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
  { db, clock, passwords, ends }: Parts,
  { actor, currentPassword, newPassword, keepTokens }: PasswordChange,
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
    await lockIdentity(tx)
    // Another change may have come first; then the password that was checked is no longer the current one.
    if (!(await updatePassword(tx, userId, hashed.hash, currentHash)))
      return { ok: false, code: 'password-mismatch' }
    const tokens = (await listApiTokens(tx, userId)).filter(({ expiresAt }) => expiresAt > clock.now())
    const sessions = await deleteUserSessions(tx, userId, sessionId)
    const revoked = await (keepTokens ? deleteUserLoginTokens(tx, userId) : deleteUserApiTokens(tx, userId))
    tx.afterCommit(() => ends.announce([...sessions, ...revoked]))
    const detail = describeTokens(tokens, new Set(revoked))
    await tx.record({ action: 'auth.password.change', resource: 'user', resourceId: userId, detail })
    return { ok: true }
  })
}

/** The names of the tokens that ended and of those that stay; empty where there were none. */
function describeTokens(tokens: readonly ApiToken[], revoked: ReadonlySet<string>): string {
  const ended = tokens.filter(({ id }) => revoked.has(id)).map(({ name }) => name)
  const kept = tokens.filter(({ id }) => !revoked.has(id)).map(({ name }) => name)
  if (tokens.length === 0) return ''
  return JSON.stringify({
    ...(ended.length > 0 ? { tokens_ended: ended } : {}),
    ...(kept.length > 0 ? { tokens_kept: kept } : {}),
  })
}
