import type { AuditFailure, AuditTrail } from '../audit/trail.ts'
import type { Clock } from '../clock.ts'
import { type Random, uuidv7 } from '../ids.ts'
import type { Database } from '../store/db.ts'
import { listUserGroups } from '../store/groups.ts'
import { insertSession } from '../store/sessions.ts'
import { findCredentials, noteLogin } from '../store/users.ts'
import { toEmailKey } from './emails.ts'
import type { LoginLimit } from './login-limit.ts'
import type { Busy, Passwords } from './passwords.ts'
import type { Tokens } from './tokens.ts'

/** Neither field is empty. */
export interface LoginRequest {
  email: string
  password: string
  /** The peer's, after trusted proxies. */
  address: string
}

export type LoginOutcome =
  | { ok: true; token: string; expiresAt: Date }
  | { ok: false; code: 'login-limited'; retryAfterS: number }
  | { ok: false; code: 'invalid-credentials' }
  | Busy
  | AuditFailure

interface Parts {
  db: Database
  clock: Clock
  random: Random
  audit: AuditTrail
  passwords: Passwords
  tokens: Tokens
  limit: LoginLimit
}

/** Log in with e-mail and password. Unknown users cost the same time as known ones. */
export function openLogin(parts: Parts): (request: LoginRequest) => Promise<LoginOutcome> {
  return async (request) => {
    const begun = parts.limit.begin(request.address, toEmailKey(request.email))
    if (!begun.ok) return { ok: false, code: 'login-limited', retryAfterS: begun.retryAfterS }
    try {
      const outcome = await judge(parts, request)
      if (outcome.ok) begun.attempt.succeed()
      // An attempt whose failure could not be recorded was still a guess.
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
  const user = await findCredentials(parts.db, toEmailKey(email))
  const checked = await parts.passwords.verify(password, user?.passwordHash ?? null)
  if (!checked.ok) return checked
  if (!user || !checked.fits) return refuse(parts, email)
  const opened = await openSession(parts, user)
  if (!opened.ok) return opened
  return opened.value ? { ok: true, ...opened.value } : refuse(parts, email)
}

async function refuse({ audit }: Parts, email: string): Promise<LoginOutcome> {
  const observed = await audit.observe({
    action: 'auth.login.failure',
    actor: null,
    resource: 'user',
    resourceId: '',
    // People type passwords into the wrong field; what is no address is not kept.
    detail: email.includes('@') ? email.trim().slice(0, 254) : '',
  })
  return observed.ok ? { ok: false, code: 'invalid-credentials' } : observed
}

/** Null when the user was removed or got another password while this one was checked. */
async function openSession(
  { clock, random, audit, tokens }: Parts,
  user: { id: string; email: string; passwordHash: string },
): Promise<{ ok: true; value: { token: string; expiresAt: Date } | null } | AuditFailure> {
  return audit.change(
    async (tx, record) => {
      const now = clock.now()
      if (!(await noteLogin(tx, user.id, user.passwordHash, now))) return null
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
      const actor = { userId: user.id, email: user.email }
      await record({ action: 'auth.login.success', actor, resource: 'user', resourceId: user.id })
      return signed
    },
    // Nobody may be signed in without a record of it.
    { sink: 'before-commit' },
  )
}
