import { afterAll, describe, expect, it } from 'vitest'
import { noFollowers } from '../../../lib/audit/commit-followers.ts'
import { openIdentity } from '../../../lib/identity/identity.ts'
import type { Passwords } from '../../../lib/identity/passwords.ts'
import { createTestContext, signIn, TEST_CONFIG } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())

const SETTINGS = { keptAdministrators: [], onlyPasswordLogin: null, oidc: null, fetchFromIssuer: fetch }

/** Make an identity service with this password check. */
function identityWith(verify: Passwords['verify']) {
  const passwords: Passwords = { verify, hash: async () => ({ ok: true, hash: 'new' }) }
  return openIdentity({
    ...ctx,
    passwords,
    jwtSecret: TEST_CONFIG.jwtSecret,
    ...SETTINGS,
    followers: noFollowers,
    sockets: { sessionIds: () => [], endSessions: () => {} },
  })
}

const countSessions = async (userId: string) =>
  (await database.pool.query('SELECT 1 FROM sessions WHERE user_id = $1', [userId])).length

describe('login', () => {
  it('does the work of a password check for an unknown user as well', async () => {
    const checked: (string | null)[] = []
    const identity = identityWith(async (_, hash) => {
      checked.push(hash)
      return { ok: true, fits: false }
    })
    await identity.logIn({ email: 'nobody@example.com', password: 'x', address: 'a' })
    expect(checked).toEqual([null])
  })

  it('opens no session with a password that was replaced while it was checked', async () => {
    const user = await signIn(ctx)
    const before = await countSessions(user.userId)
    const identity = identityWith(async () => {
      await database.pool.execute("UPDATE users SET password_hash = 'reset' WHERE id = $1", [user.userId])
      return { ok: true, fits: true }
    })
    const outcome = await identity.logIn({ email: user.email, password: 'x', address: 'a' })
    expect(outcome).toEqual({ ok: false, code: 'invalid-credentials' })
    expect(await countSessions(user.userId)).toBe(before)
  })

  it('is busy, not wrong, when no thread is free, and does not count that as a guess', async () => {
    const user = await signIn(ctx)
    const identity = identityWith(async () => ({ ok: false, code: 'server-busy' }))
    for (let n = 0; n < 8; n++) {
      const outcome = await identity.logIn({ email: user.email, password: 'x', address: 'a' })
      expect(outcome).toEqual({ ok: false, code: 'server-busy' })
    }
  })

  it('changes no password that was replaced while the current one was checked', async () => {
    const user = await signIn(ctx)
    const identity = identityWith(async () => {
      await database.pool.execute("UPDATE users SET password_hash = 'reset' WHERE id = $1", [user.userId])
      return { ok: true, fits: true }
    })
    const outcome = await identity.changePassword({
      actor: user,
      address: 'a',
      currentPassword: 'the current one',
      newPassword: 'the next one, long',
      keepTokens: false,
    })
    expect(outcome).toEqual({ ok: false, code: 'password-mismatch' })
  })

  it('forgets sessions whose time is over', async () => {
    const user = await signIn(ctx)
    ctx.clock.advance(86_399_000)
    expect(await ctx.identity.trim()).toBe(0)
    ctx.clock.advance(1_000)
    expect(await ctx.identity.trim()).toBeGreaterThan(0)
    expect(await countSessions(user.userId)).toBe(0)
  })
})
