import type { AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { Clock } from '../clock.ts'
import { type Random, uuidv7 } from '../ids.ts'
import type { Log } from '../log.ts'
import { toEmailKey } from '../model/emails.ts'
import { listUserGroups } from '../store/groups.ts'
import { insertSession } from '../store/sessions.ts'
import { findCredentials, noteLogin } from '../store/users.ts'
import type { LoginLimit } from './login-limit.ts'
import type { Busy, Passwords } from './passwords.ts'
import type { Tokens } from './sessions/tokens.ts'

/** What somebody logs in with; neither `email` nor `password` is empty. */
export interface LoginRequest {
  email: string
  password: string
  /** The peer's address, after trusted proxies. */
  address: string
}

/** How a login ended. */
export type LoginOutcome =
  | { ok: true; token: string; expiresAt: Date }
  | { ok: false; code: 'login-limited'; retryAfterS: number }
  | { ok: false; code: 'invalid-credentials' }
  | Busy
  | AuditFailure

interface Parts {
  db: AuditedDatabase
  clock: Clock
  random: Random
  passwords: Passwords
  tokens: Tokens
  limit: LoginLimit
  log: Log
  onlyPasswordLogin: string | null
}

/** Log in with e-mail and password. Unknown users cost the same time as known ones. */
export function openLogin(parts: Parts): (request: LoginRequest) => Promise<LoginOutcome> {
  return async (request) => {
    const begun = parts.limit.begin(request.address, toEmailKey(request.email))
    if (!begun.ok) return { ok: false, code: 'login-limited', retryAfterS: begun.retryAfterS }
    try {
      const outcome = await judge(parts, request)
      if (outcome.ok) begun.attempt.succeed()
      // Includes `audit-unavailable`: a wrong password is a guess even where it could not be recorded, and a right one
      // whose record failed counts as well.
      else if (outcome.code === 'server-busy') begun.attempt.cancel()
      else begun.attempt.fail()
      return outcome
    } catch (error) {
      begun.attempt.cancel()
      throw error
    }
  }
}

async function judge(parts: Parts, { email, password }: LoginRequest): Promise<LoginOutcome> {
  const { onlyPasswordLogin } = parts
  const mayTry = onlyPasswordLogin === null || toEmailKey(onlyPasswordLogin) === toEmailKey(email)
  // An account that may not log in with a password takes as long as one that does not exist.
  const user = mayTry ? await findCredentials(parts.db, toEmailKey(email)) : undefined
  // And so does one that is of the identity provider by now, whatever password it had.
  const own = user?.isBound ? undefined : user
  const checked = await parts.passwords.verify(password, own?.passwordHash ?? null)
  if (!checked.ok) return checked
  if (!own || !checked.fits) return refuse(parts, email)
  const opened = await openSession(parts, own)
  if (opened?.ok && onlyPasswordLogin !== null)
    parts.log.warn({ email: own.email }, 'the administrator of the last resort has logged in with a password')
  return opened ?? refuse(parts, email)
}

async function refuse({ db }: Parts, email: string): Promise<LoginOutcome> {
  const observed = await db.observe({
    action: 'auth.login.failure',
    actor: null,
    resource: 'user',
    resourceId: '',
    // People type passwords into the wrong field: a text that is no e-mail address is not stored.
    detail: email.includes('@') ? email.trim().slice(0, 254) : '',
  })
  return observed.ok ? { ok: false, code: 'invalid-credentials' } : observed
}

/** Null when the user was removed or got another password while this one was checked. */
async function openSession(
  { db, clock, random, tokens, onlyPasswordLogin }: Parts,
  user: { id: string; email: string; passwordHash: string },
): Promise<{ ok: true; token: string; expiresAt: Date } | AuditFailure | null> {
  const opened = await db.change<
    { ok: true; token: string; expiresAt: Date } | { ok: false; code: 'changed' }
  >(
    'session.open',
    { userId: user.id, email: user.email, askAgain: null },
    async (tx) => {
      const now = clock.now()
      if (!(await noteLogin(tx, user.id, user.passwordHash, now))) return { ok: false, code: 'changed' }
      const groups = (await listUserGroups(tx, user.id)).map((group) => group.name)
      const sessionId = uuidv7(now, random)
      const login = { userId: user.id, email: user.email, groups, sessionId, issuedAt: now }
      const signed = await tokens.sign(login)
      await insertSession(tx, {
        id: sessionId,
        userId: user.id,
        createdAt: now,
        expiresAt: signed.expiresAt,
      })
      // Where only one account may log in with a password, the record says that a password was used.
      const detail = onlyPasswordLogin === null ? '' : JSON.stringify({ method: 'password' })
      await tx.record({ action: 'auth.login.success', resource: 'user', resourceId: user.id, detail })
      return { ok: true, ...signed }
    },
    // Nobody may be signed in without a record of it. A login changes nothing in the fleet, so it does not wait for
    // what agents reported.
    { sink: 'before-commit', waitsForReports: false },
  )
  return !opened.ok && opened.code === 'changed' ? null : opened
}
