import type { AuditTrail } from '../audit/trail.ts'
import type { Clock } from '../clock.ts'
import type { Random } from '../ids.ts'
import type { Log } from '../log.ts'
import type { Database } from '../store/db.ts'
import { deleteExpiredSessions, deleteSession } from '../store/sessions.ts'
import { type Authentication, openAuthority } from './authority.ts'
import { type LoginOutcome, type LoginRequest, openLogin } from './login.ts'
import { openLoginLimit } from './login-limit.ts'
import { openOwnPassword, type PasswordChange, type PasswordChangeOutcome } from './own-password.ts'
import type { Passwords } from './passwords.ts'
import { openTokens } from './tokens.ts'
import { openUserAdministration, type UserAdministration } from './user-administration.ts'

/** Who may sign in and what they may do. */
export interface Identity {
  authenticate(token: string): Promise<Authentication>
  /** `listener` hears of sessions that ended before their time, so that their sockets can be closed. */
  onSessionsEnded(listener: (sessionIds: readonly string[]) => void): void
  logIn(request: LoginRequest): Promise<LoginOutcome>
  /** End the session of a token of ours; anything else is ignored. */
  logOut(token: string): Promise<void>
  changePassword(change: PasswordChange): Promise<PasswordChangeOutcome>
  users: UserAdministration
  /** Forget sessions whose time is over, and failed logins that no longer count; returns how many sessions. */
  trim(): Promise<number>
}

/** What the parts of identity share. */
export interface IdentityParts {
  db: Database
  clock: Clock
  random: Random
  log: Log
  audit: AuditTrail
  passwords: Passwords
  /** JWT_SECRET as it is. */
  jwtSecret: string
  /** SEED_ADMIN_EMAIL while it is set: that user stays an administrator, or the next start would fail. */
  seedAdminEmail: string | null
}

/** Memory of sessions that ended: caches forget them, listeners hear of them. */
export interface SessionEnds {
  /** Call after the commit. */
  announce(sessionIds: readonly string[]): void
}

/** Identity over the database; nothing is read yet. */
export function openIdentity(parts: IdentityParts): Identity {
  const tokens = openTokens(parts.jwtSecret, parts.clock)
  const authority = openAuthority({ ...parts, tokens })
  const limit = openLoginLimit(parts)
  const listeners: ((sessionIds: readonly string[]) => void)[] = []
  const ends: SessionEnds = {
    announce(sessionIds) {
      authority.forget()
      if (sessionIds.length > 0) for (const listener of listeners) listener(sessionIds)
    },
  }
  return {
    authenticate: authority.authenticate,
    onSessionsEnded: (listener) => void listeners.push(listener),
    logIn: openLogin({ ...parts, tokens, limit }),
    async logOut(token) {
      const claims = await tokens.verify(token)
      if (claims && (await deleteSession(parts.db, claims.sessionId))) ends.announce([claims.sessionId])
    },
    changePassword: openOwnPassword({ ...parts, limit, ends }),
    users: openUserAdministration({ ...parts, ends }),
    trim() {
      limit.trim()
      return deleteExpiredSessions(parts.db, parts.clock.now())
    },
  }
}
