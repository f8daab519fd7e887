import { createHash } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { type Permission, permissionsOf } from '../model/permissions.ts'
import { type ApiTokenRow, findApiToken, noteApiTokenUse } from '../store/api-tokens.ts'
import { type Database, DatabaseUnavailable } from '../store/db.ts'
import type { Authentication, SignedInUser } from './authority.ts'
import type { LoginLimit } from './login-limit.ts'

/** What an API token looks like: a prefix that scanners for secrets can find, and 32 random bytes. */
const API_TOKEN = /^mst_[\w-]{43}$/
const PREFIX = 'mst_'

/** Whether a credential claims to be an API token. */
export const isApiToken = (credential: string): boolean => credential.startsWith(PREFIX)

/** The text of a token of these 32 bytes. */
export const formatApiToken = (bytes: Uint8Array): string =>
  `${PREFIX}${Buffer.from(bytes).toString('base64url')}`

/** What is stored of a token: SHA-256 in hex. The bytes are random, so that nothing slower is needed. */
export const hashApiToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** A person's tokens work so long after the person last signed in. */
export const HOLDER_ACTIVE_MS = 14 * 86_400_000

export type TokenAuthentication =
  | Authentication
  | { ok: false; code: 'holder-inactive' }
  | { ok: false; code: 'token-limited'; retryAfterS: number }

/** Answers who an API token stands for, from memory for at most 30 s. */
export interface TokenAuthority {
  /** `address` is the peer's, after trusted proxies: strangers are counted by it. */
  authenticate(token: string, address: string): Promise<TokenAuthentication>
  /** Read everything again: tokens were revoked or memberships changed. */
  forget(): void
}

const FRESH_MS = 30_000
const ENTRIES_MAX = 10_000
const MINUTE_MS = 60_000

/** A token that was there when it was last looked for. */
interface Entry {
  row: ApiTokenRow
  readAtMs: number
}

/**
 * An authority with nothing in memory. `limit` counts unknown tokens only, and only what is known is remembered: whoever
 * tries others drives nobody out.
 */
export function openTokenAuthority(parts: { db: Database; clock: Clock; limit: LoginLimit }): TokenAuthority {
  const { db, clock, limit } = parts
  const entries = new Map<string, Entry>()
  const running = new Map<string, Promise<ApiTokenRow | null>>()
  let generation = 0

  async function load(hash: string): Promise<ApiTokenRow | null> {
    const startedAt = generation
    const readAtMs = clock.monotonicMs()
    const now = clock.now()
    const row = (await findApiToken(db, hash, now)) ?? null
    entries.delete(hash)
    if (row === null) return null
    await noteUse(row, now)
    // What was read before a token was revoked must be read again after it.
    entries.set(hash, { row, readAtMs: startedAt === generation ? readAtMs : Number.NEGATIVE_INFINITY })
    if (entries.size > ENTRIES_MAX) entries.delete(entries.keys().next().value!)
    return row
  }

  async function noteUse(row: ApiTokenRow, now: Date): Promise<void> {
    const minuteMs = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS
    if (row.lastUsedAt === null || row.lastUsedAt.getTime() < minuteMs)
      await noteApiTokenUse(db, row.id, new Date(minuteMs))
  }

  /** Concurrent requests with one token share a read. */
  function loadOnce(hash: string): Promise<ApiTokenRow | null> {
    const key = `${generation} ${hash}`
    const loading = running.get(key) ?? load(hash).finally(() => running.delete(key))
    running.set(key, loading)
    return loading
  }

  async function find(token: string, address: string): Promise<ApiTokenRow | null | { retryAfterS: number }> {
    const hash = hashApiToken(token)
    const known = entries.get(hash)
    if (known && clock.monotonicMs() - known.readAtMs < FRESH_MS) return known.row
    if (known || running.has(`${generation} ${hash}`)) return loadOnce(hash)
    const begun = limit.begin(address, '')
    if (!begun.ok) return { retryAfterS: begun.retryAfterS }
    let isKnown = true
    try {
      const row = await loadOnce(hash)
      isKnown = row !== null
      return row
    } finally {
      if (isKnown) begun.attempt.cancel()
      else begun.attempt.fail()
    }
  }

  return {
    async authenticate(token, address) {
      if (!API_TOKEN.test(token)) return { ok: false, code: 'unauthorized' }
      try {
        const found = await find(token, address)
        if (found === null) return { ok: false, code: 'unauthorized' }
        if (!('id' in found)) return { ok: false, code: 'token-limited', retryAfterS: found.retryAfterS }
        return judge(found, clock.now())
      } catch (error) {
        if (error instanceof DatabaseUnavailable) return { ok: false, code: 'database-unavailable' }
        throw error
      }
    },
    forget() {
      generation++
      // They stay known, so that a limit on their address does not count them among the unknown.
      for (const entry of entries.values()) entry.readAtMs = Number.NEGATIVE_INFINITY
    },
  }
}

/** Until when a token works, if nothing changes; null when its holder may not be asked for. */
function activeUntil(row: ApiTokenRow): Date | null {
  if (row.holder === 'service') return row.hasOwner ? row.expiresAt : null
  if (row.lastLoginAt === null) return null
  return new Date(Math.min(row.expiresAt.getTime(), row.lastLoginAt.getTime() + HOLDER_ACTIVE_MS))
}

/** What a token is worth now: its own rights cut with those of its holder. */
function judge(row: ApiTokenRow, now: Date): TokenAuthentication {
  if (row.expiresAt <= now) return { ok: false, code: 'unauthorized' }
  const until = activeUntil(row)
  if (until === null || until <= now) return { ok: false, code: 'holder-inactive' }
  const held = new Set<string>(permissionsOf(row.roles))
  const user: SignedInUser = {
    userId: row.userId,
    email: row.email,
    groups: row.groups,
    permissions: row.permissions.filter((permission): permission is Permission => held.has(permission)),
    sessionId: row.id,
    expiresAt: until,
    apiToken: row.name,
  }
  return { ok: true, user }
}
