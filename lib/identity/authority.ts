import type { Clock } from '../clock.ts'
import { type Permission, permissionsOf } from '../model/permissions.ts'
import { type Database, DatabaseUnavailable } from '../store/db.ts'
import { findSession } from '../store/sessions.ts'
import type { Tokens } from './sessions/tokens.ts'

/** Who a credential stands for, with the authority as it is now. */
export interface SignedInUser {
  userId: string
  email: string
  groups: readonly string[]
  permissions: readonly Permission[]
  /** The session, or the API token, that the credential is of. */
  sessionId: string
  expiresAt: Date
  /** The name of the API token; null for somebody who is signed in. */
  apiToken: string | null
}

export type Authentication =
  | { ok: true; user: SignedInUser }
  | { ok: false; code: 'unauthorized' | 'database-unavailable' }

/** Answers who a token stands for, from memory for at most 30 s. */
export interface Authority {
  authenticate(token: string): Promise<Authentication>
  /** Forget everything: sessions ended or memberships changed. */
  forget(): void
}

const FRESH_MS = 30_000
const ENTRIES_MAX = 10_000

interface Entry {
  /** Null when there is no such session. */
  user: SignedInUser | null
  readAtMs: number
}

/** An authority with nothing in memory. */
export function openAuthority(parts: { db: Database; clock: Clock; tokens: Tokens }): Authority {
  const { db, clock, tokens } = parts
  const entries = new Map<string, Entry>()
  const running = new Map<string, Promise<SignedInUser | null>>()
  let generation = 0

  async function load(sessionId: string): Promise<SignedInUser | null> {
    const startedAt = generation
    const readAtMs = clock.monotonicMs()
    const row = await findSession(db, sessionId, clock.now())
    const user = row
      ? {
          userId: row.userId,
          email: row.email,
          groups: row.groups,
          permissions: permissionsOf(row.roles),
          sessionId,
          expiresAt: row.expiresAt,
          apiToken: null,
        }
      : null
    // What was read before a session ended must not be remembered after it.
    if (startedAt === generation) remember(sessionId, { user, readAtMs })
    return user
  }

  function remember(sessionId: string, entry: Entry): void {
    entries.delete(sessionId)
    entries.set(sessionId, entry)
    if (entries.size > ENTRIES_MAX) entries.delete(entries.keys().next().value!)
  }

  /** Concurrent requests of one session share a read. */
  function loadOnce(sessionId: string): Promise<SignedInUser | null> {
    const key = `${generation} ${sessionId}`
    const loading = running.get(key) ?? load(sessionId).finally(() => running.delete(key))
    running.set(key, loading)
    return loading
  }

  async function find(sessionId: string): Promise<SignedInUser | null> {
    const known = entries.get(sessionId)
    if (known && clock.monotonicMs() - known.readAtMs < FRESH_MS) return known.user
    return loadOnce(sessionId)
  }

  return {
    async authenticate(token) {
      const claims = await tokens.verify(token)
      if (!claims) return { ok: false, code: 'unauthorized' }
      try {
        const user = await find(claims.sessionId)
        if (!user || user.userId !== claims.userId) return { ok: false, code: 'unauthorized' }
        return { ok: true, user }
      } catch (error) {
        if (error instanceof DatabaseUnavailable) return { ok: false, code: 'database-unavailable' }
        throw error
      }
    },
    forget() {
      generation++
      entries.clear()
    },
  }
}
