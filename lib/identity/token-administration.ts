import type { AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { Clock } from '../clock.ts'
import { type Random, uuidv7 } from '../ids.ts'
import { PERMISSIONS, type Permission } from '../model/permissions.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { grantsOf, rightsSomewhere } from '../model/scopes.ts'
import { noteAccountChange } from '../store/account-ties.ts'
import { type ApiToken, deleteApiToken, insertApiToken, listApiTokens } from '../store/api-tokens.ts'
import type { Db } from '../store/db.ts'
import { listUserGroups } from '../store/groups.ts'
import { findServiceAccount } from '../store/service-accounts.ts'
import { findUser, lockIdentity } from '../store/users.ts'
import type { SessionEnds } from './sessions/session-ends.ts'
import { formatApiToken, hashApiToken } from './token-authority.ts'
import type { Administrator } from './user-administration.ts'

/** A token that is asked for. */
export interface NewApiToken {
  name: string
  permissions: readonly string[]
  expiresAt: Date
}

type TokenRequestRefusal = Refusal<
  'expiry-invalid' | 'expiry-past' | 'expiry-too-far' | 'permission-unknown' | 'token-name-invalid'
>

/** How making a token ended. */
export type TokenOutcome =
  /** `secret` is the token itself, which is shown this once and not stored. */
  | { ok: true; token: ApiToken; secret: string }
  | TokenRequestRefusal
  | Refusal<'permission-not-held' | 'too-many-tokens' | 'user-not-found'>
  | AuditFailure

/** How revoking a token ended. */
export type RevokeOutcome = { ok: true } | { ok: false; code: 'token-not-found' } | AuditFailure

/** Makes and revokes API tokens. The caller decides who may do so for which holder. */
export interface TokenAdministration {
  /**
   * Make a token of a person or a service account; `by` is the user who is signed in, an administrator or the holder.
   */
  create(by: Administrator, holderId: string, asked: NewApiToken): Promise<TokenOutcome>
  /** Revoke a token; its sockets close at once. */
  revoke(by: Administrator, holderId: string, id: string): Promise<RevokeOutcome>
}

interface Parts {
  db: AuditedDatabase
  clock: Clock
  random: Random
  ends: SessionEnds
}

const YEAR_MS = 366 * 86_400_000
/** The most tokens of one holder, those of command-line logins aside. */
export const TOKENS_MAX = 100
const NAME_MAX = 64

/** Token administration over the database. */
export function openTokenAdministration(parts: Parts): TokenAdministration {
  return {
    create: (by, holderId, asked) => createToken(parts, by, holderId, asked),
    revoke: (by, holderId, id) => revokeToken(parts, by, holderId, id),
  }
}

/** Refuse a request that would be refused for every holder; null when it is well-formed. */
function refuseRequest(
  name: string,
  { permissions, expiresAt }: NewApiToken,
  now: Date,
): TokenRequestRefusal | null {
  if (name === '' || name.length > NAME_MAX || /[\p{Cc}\p{Surrogate}]/u.test(name))
    return refuse('token-name-invalid', { max: NAME_MAX })
  if (Number.isNaN(expiresAt.getTime())) return refuse('expiry-invalid')
  if (expiresAt <= now) return refuse('expiry-past')
  if (expiresAt.getTime() - now.getTime() > YEAR_MS) return refuse('expiry-too-far')
  const unknown = permissions.find((permission) => !PERMISSIONS.some((known) => known === permission))
  return unknown === undefined ? null : refuse('permission-unknown', { permission: unknown })
}

/**
 * What a holder may do now, be it within a scope only; null when there is no such person and no such service account.
 */
export async function readHolder(
  tx: Db,
  id: string,
): Promise<{ name: string; permissions: readonly Permission[] } | null> {
  const holder = (await findUser(tx, id)) ?? (await findServiceAccount(tx, id))
  if (!holder) return null
  const permissions = rightsSomewhere(grantsOf(await listUserGroups(tx, id)))
  return { name: 'email' in holder ? holder.email : holder.name, permissions: [...permissions] }
}

async function createToken(
  { db, clock, random }: Parts,
  by: Administrator,
  holderId: string,
  asked: NewApiToken,
): Promise<TokenOutcome> {
  const name = asked.name.trim()
  const refused = refuseRequest(name, asked, clock.now())
  if (refused) return refused
  const secret = formatApiToken(random.bytes(32))
  return db.change<TokenOutcome>('token.create', by, async (tx) => {
    await lockIdentity(tx)
    const holder = await readHolder(tx, holderId)
    if (!holder) return { ok: false, code: 'user-not-found' }
    // A right that the holder lacks would take effect unnoticed once the holder is given it.
    const beyond = asked.permissions.find((one) => !holder.permissions.some((held) => held === one))
    if (beyond !== undefined) return refuse('permission-not-held', { permission: beyond })
    if ((await listApiTokens(tx, holderId)).filter(({ isLogin }) => !isLogin).length >= TOKENS_MAX)
      return { ok: false, code: 'too-many-tokens' }
    const now = clock.now()
    const permissions = [...new Set(asked.permissions)].sort()
    const token = { id: uuidv7(now, random), userId: holderId, name, permissions }
    const times = { createdAt: now, expiresAt: asked.expiresAt, isLogin: false }
    const maker = { madeById: by.userId, madeBy: by.email }
    await insertApiToken(tx, { ...token, ...times, ...maker, hash: hashApiToken(secret) })
    // `by` now knows a token of the holder's and can make requests with it, so `by` counts as an author of what the
    // holder requests.
    if (by.userId !== holderId) await noteAccountChange(tx, holderId, by.userId, now)
    await tx.record({
      action: 'token.create',
      resource: 'token',
      resourceId: token.id,
      detail: JSON.stringify({ name, holder: holder.name, permissions, expires_at: asked.expiresAt }),
    })
    return { ok: true, token: { ...token, ...times, ...maker, lastUsedAt: null }, secret }
  })
}

function revokeToken(
  { db, ends }: Parts,
  by: Administrator,
  holderId: string,
  id: string,
): Promise<RevokeOutcome> {
  return db.change<RevokeOutcome>('token.revoke', by, async (tx) => {
    const token = await deleteApiToken(tx, holderId, id)
    if (!token) return { ok: false, code: 'token-not-found' }
    const holder = await readHolder(tx, holderId)
    await tx.record({
      action: 'token.revoke',
      resource: 'token',
      resourceId: id,
      detail: JSON.stringify({ name: token.name, holder: holder?.name ?? holderId }),
    })
    tx.afterCommit(() => ends.announce([id]))
    return { ok: true }
  })
}
