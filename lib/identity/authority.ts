import type { Clock } from '../clock.ts'
import { type Grant, grantsOf } from '../model/scopes.ts'
import { type Database, DatabaseUnavailable } from '../store/db.ts'
import { findSession } from '../store/sessions.ts'
import { FreshReads } from './fresh-reads.ts'
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

interface Parts {
  db: Database
  clock: Clock
  tokens: Tokens
}

/** An authority with nothing in memory. */
export const openAuthority = (parts: Parts): Authority => new SessionAuthority(parts)

class SessionAuthority implements Authority {
  readonly #parts: Parts
  /** By session; null where there is none. */
  readonly #reads: FreshReads<SignedInUser | null>

  constructor(parts: Parts) {
    this.#parts = parts
    this.#reads = new FreshReads(parts.clock)
  }

  async authenticate(token: string): ReturnType<Authority['authenticate']> {
    const claims = await this.#parts.tokens.verify(token)
    if (!claims) return { ok: false, code: 'unauthorized' }
    try {
      const { sessionId } = claims
      const user = await this.#reads.read(sessionId, () => this.#load(sessionId))
      if (!user || user.userId !== claims.userId) return { ok: false, code: 'unauthorized' }
      return { ok: true, user }
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return { ok: false, code: 'database-unavailable' }
      throw error
    }
  }

  forget(): void {
    this.#reads.forget()
  }

  async #load(sessionId: string): Promise<SignedInUser | null> {
    const { db, clock } = this.#parts
    const row = await findSession(db, sessionId, clock.now())
    return row
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
  }
}
