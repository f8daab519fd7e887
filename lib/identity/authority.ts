import type { Clock } from '../clock.ts'
import { type Grant, grantsOf } from '../model/scopes.ts'
import { type Database, DatabaseUnavailable } from '../store/db.ts'
import { findSession } from '../store/sessions.ts'
import type { Tokens } from './sessions/tokens.ts'

/** The user that a credential stands for, with the rights that the user has now. */
export interface SignedInUser {
  userId: string
  email: string
  groups: readonly string[]
  /** What the user may do, and where. */
  grants: readonly Grant[]
  /** Id of the session or of the API token that was presented. */
  sessionId: string
  expiresAt: Date
  /** The name of the API token; null for somebody who is signed in. */
  apiToken: string | null
}

/** Who a credential stands for, or why that cannot be said. */
export type Authentication =
  | { ok: true; user: SignedInUser }
  | { ok: false; code: 'unauthorized' | 'database-unavailable' }

/** Answers who a token stands for, from memory for at most 30 s. */
export interface Authority {
  authenticate(token: string): Promise<Authentication>
  /** Forget all sessions, because some ended or groups changed. */
  forget(): void
}

const FRESH_MS = 30_000
const ENTRIES_MAX = 10_000

interface Entry {
  /** Null when there is no such session. */
  user: SignedInUser | null
  readAtMs: number
}

interface Parts {
  db: Database
  clock: Clock
  tokens: Tokens
}

/** An authority with nothing in memory. */
export const openAuthority = (parts: Parts): Authority => new SessionAuthority(parts)

class SessionAuthority implements Authority {
  readonly #parts: Parts
  readonly #entries = new Map<string, Entry>()
  readonly #running = new Map<string, Promise<SignedInUser | null>>()
  /** Goes up with each `forget`: a read that began before is not remembered. */
  #generation = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async authenticate(token: string): ReturnType<Authority['authenticate']> {
    const claims = await this.#parts.tokens.verify(token)
    if (!claims) return { ok: false, code: 'unauthorized' }
    try {
      const user = await this.#find(claims.sessionId)
      if (!user || user.userId !== claims.userId) return { ok: false, code: 'unauthorized' }
      return { ok: true, user }
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return { ok: false, code: 'database-unavailable' }
      throw error
    }
  }

  forget(): void {
    this.#generation++
    this.#entries.clear()
  }

  async #find(sessionId: string): Promise<SignedInUser | null> {
    const known = this.#entries.get(sessionId)
    if (known && this.#parts.clock.monotonicMs() - known.readAtMs < FRESH_MS) return known.user
    return this.#loadOnce(sessionId)
  }

  /** Concurrent requests of one session share a read. */
  #loadOnce(sessionId: string): Promise<SignedInUser | null> {
    const key = `${this.#generation} ${sessionId}`
    const loading = this.#running.get(key) ?? this.#load(sessionId).finally(() => this.#running.delete(key))
    this.#running.set(key, loading)
    return loading
  }

  async #load(sessionId: string): Promise<SignedInUser | null> {
    const { db, clock } = this.#parts
    const startedAt = this.#generation
    const readAtMs = clock.monotonicMs()
    const row = await findSession(db, sessionId, clock.now())
    const user = row
      ? {
          userId: row.userId,
          email: row.email,
          groups: row.groups,
          grants: grantsOf(row.roles),
          sessionId,
          expiresAt: row.expiresAt,
          apiToken: null,
        }
      : null
    // A session that was read before a `forget` may have ended since: do not remember it.
    if (startedAt === this.#generation) this.#remember(sessionId, { user, readAtMs })
    return user
  }

  #remember(sessionId: string, entry: Entry): void {
    this.#entries.delete(sessionId)
    this.#entries.set(sessionId, entry)
    if (this.#entries.size > ENTRIES_MAX) this.#entries.delete(this.#entries.keys().next().value!)
  }
}
