import { createHash } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { HOLDER_ACTIVE_DAYS } from '../model/lifetimes.ts'
import { cutGrants, grantsOf } from '../model/scopes.ts'
import { type ApiTokenRow, findApiToken, noteApiTokenUse, type TokenTerm } from '../store/api-tokens.ts'
import { type Database, DatabaseUnavailable } from '../store/db.ts'
import type { Authentication, SignedInUser } from './authority.ts'
import { FreshReads } from './fresh-reads.ts'
import type { LoginLimit } from './login-limit.ts'

/** What an API token looks like: a prefix that scanners for secrets can find, and 32 random bytes. */
const API_TOKEN = /^mst_[\w-]{43}$/
const PREFIX = 'mst_'

/** Whether a credential claims to be an API token. */
export const isApiToken = (credential: string): boolean => credential.startsWith(PREFIX)

/** The text of a token of these 32 bytes. */
export const formatApiToken = (bytes: Uint8Array): string =>
  `${PREFIX}${Buffer.from(bytes).toString('base64url')}`

/** What is stored of a token: SHA-256 in hex. The bytes are random, so a slow hash is not needed. */
export const hashApiToken = (token: string): string => createHash('sha256').update(token).digest('hex')

const HOLDER_ACTIVE_MS = HOLDER_ACTIVE_DAYS * 86_400_000

/** Who an API token stands for, or why it is refused. */
export type TokenAuthentication =
  | Authentication
  | { ok: false; code: 'holder-inactive' }
  | { ok: false; code: 'token-limited'; retryAfterS: number }

/** Answers who an API token stands for, from memory for at most 30 s. */
export interface TokenAuthority {
  /** `address` is the address of the peer, after trusted proxies: unknown tokens are counted by it. */
  authenticate(token: string, address: string): Promise<TokenAuthentication>
  /** Read every token again before it counts, because tokens were revoked or groups changed. */
  forget(): void
}

const MINUTE_MS = 60_000

interface Parts {
  db: Database
  clock: Clock
  limit: LoginLimit
}

/**
 * An authority with nothing in memory. `limit` counts unknown tokens only, and only known tokens are remembered, so
 * that somebody who tries unknown ones cannot push the known ones out of memory.
 */
export const openTokenAuthority = (parts: Parts): TokenAuthority => new StoredTokenAuthority(parts)

class StoredTokenAuthority implements TokenAuthority {
  readonly #parts: Parts
  /** By the hash of a token; null where there is none. */
  readonly #reads: FreshReads<ApiTokenRow | null>

  constructor(parts: Parts) {
    this.#parts = parts
    this.#reads = new FreshReads<ApiTokenRow | null>(parts.clock, (row) => row !== null)
  }

  async authenticate(token: string, address: string): ReturnType<TokenAuthority['authenticate']> {
    if (!API_TOKEN.test(token)) return { ok: false, code: 'unauthorized' }
    try {
      const found = await this.#find(token, address)
      if (found === null) return { ok: false, code: 'unauthorized' }
      if (!('id' in found)) return { ok: false, code: 'token-limited', retryAfterS: found.retryAfterS }
      return judge(found, this.#parts.clock.now())
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return { ok: false, code: 'database-unavailable' }
      throw error
    }
  }

  forget(): void {
    this.#reads.forget()
  }

  async #find(token: string, address: string): Promise<ApiTokenRow | null | { retryAfterS: number }> {
    const { limit } = this.#parts
    const hash = hashApiToken(token)
    const wasKnown = this.#reads.isKnown(hash)
    // Read before anything is counted: whoever tries unknown tokens keeps no known one out, from whatever address.
    const row = await this.#reads.read(hash, () => this.#load(hash))
    if (row !== null || wasKnown) return row
    const begun = limit.begin(address, '')
    if (!begun.ok) return { retryAfterS: begun.retryAfterS }
    begun.attempt.fail()
    return null
  }

  async #load(hash: string): Promise<ApiTokenRow | null> {
    const { db, clock } = this.#parts
    const now = clock.now()
    const row = (await findApiToken(db, hash, now)) ?? null
    if (row !== null) await this.#noteUse(row, now)
    return row
  }

  async #noteUse(row: ApiTokenRow, now: Date): Promise<void> {
    const minuteMs = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS
    // Not fenced: the statement only moves the minute forward, and this process has seen the token used.
    if (row.lastUsedAt === null || row.lastUsedAt.getTime() < minuteMs)
      await noteApiTokenUse(this.#parts.db, row.id, new Date(minuteMs))
  }
}

/**
 * Until when a token works, if nothing changes; null for a service account without an owner, and for a person who never
 * signed in.
 */
export function activeUntil(row: TokenTerm): Date | null {
  if (row.holder === 'service') return row.hasOwner ? row.expiresAt : null
  if (row.lastLoginAt === null) return null
  return new Date(Math.min(row.expiresAt.getTime(), row.lastLoginAt.getTime() + HOLDER_ACTIVE_MS))
}

/** What a token allows now: those of its rights that its holder has as well, where the holder has them. */
function judge(row: ApiTokenRow, now: Date): TokenAuthentication {
  if (row.expiresAt <= now) return { ok: false, code: 'unauthorized' }
  const until = activeUntil(row)
  if (until === null || until <= now) return { ok: false, code: 'holder-inactive' }
  const given = new Set<string>(row.permissions)
  const user: SignedInUser = {
    userId: row.userId,
    email: row.email,
    groups: row.groups,
    grants: cutGrants(grantsOf(row.roles), (permission) => given.has(permission)),
    sessionId: row.id,
    expiresAt: until,
    apiToken: row.name,
  }
  return { ok: true, user }
}
