import { afterAll, describe, expect, it } from 'vitest'
import type { AuditSink } from '../../../lib/audit/delivery.ts'
import { uuidv7 } from '../../../lib/ids.ts'
import { insertApiToken } from '../../../lib/store/api-tokens.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import { createEdition } from '../../../runtime/editions.ts'
import {
  addSession,
  createTestContext,
  hearEndedSessions,
  invoke,
  makeApiToken,
  signIn,
  type TestContext,
} from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
const ended = hearEndedSessions(ctx)

const CURRENT = 'the current password'
const NEXT = 'the next pass phrase'

async function hashOf(password: string): Promise<string> {
  const hashed = await ctx.passwords.hash(password)
  if (!hashed.ok) throw new Error(hashed.code)
  return hashed.hash
}

async function userWithPassword(): Promise<Awaited<ReturnType<typeof signIn>>> {
  const user = await signIn(ctx, { groups: ['viewer'] })
  await database.pool.execute('UPDATE users SET password_hash = $2 WHERE id = $1', [
    user.userId,
    await hashOf(CURRENT),
  ])
  return user
}

const change = (
  as: string,
  current_password: unknown,
  new_password: unknown,
  more: { ctx?: TestContext } = {},
) => invoke(more.ctx ?? ctx, 'PUT /api/me/password', { as, body: { current_password, new_password } })

const logIn = (email: string, password: string) =>
  invoke(ctx, 'POST /api/auth/login', { body: { email, password }, remoteAddress: '192.0.2.99' })

describe('PUT /api/me/password', () => {
  it('replaces the password, ends the other sessions, keeps this one, and records it without detail', async () => {
    const user = await userWithPassword()
    const other = await addSession(ctx, user)
    await invoke(ctx, 'GET /api/me', { as: other.token })
    expect(await change(user.token, CURRENT, NEXT)).toMatchObject({ status: 204, text: '' })
    expect(await invoke(ctx, 'GET /api/me', { as: user.token })).toMatchObject({ status: 200 })
    expect(await invoke(ctx, 'GET /api/me', { as: other.token })).toMatchObject({ status: 401 })
    expect(ended).toEqual([other.sessionId])
    const filter = { userId: user.userId, action: 'auth.password.change' }
    const [record] = await listAuditRecords(database.pool, filter, { beforeSeq: null, limit: 1, offset: 0 })
    expect(record).toMatchObject({ resource: 'user', resourceId: user.userId, detail: '' })
    expect(await logIn(user.email, NEXT)).toMatchObject({ status: 200 })
    expect(await logIn(user.email, CURRENT)).toMatchObject({ status: 401 })
  })

  describe('and the tokens of whoever changes it', () => {
    const makeTokens = async () => {
      const user = await userWithPassword()
      const { id, token } = await makeApiToken(ctx, user)
      await database.pool.execute('update users set last_login_at = $2 where id = $1', [
        user.userId,
        ctx.clock.now(),
      ])
      // What `muster login` gets is a sign-in as well.
      const loginId = uuidv7(ctx.clock.now(), ctx.random)
      await insertApiToken(ctx.db, {
        id: loginId,
        userId: user.userId,
        name: 'laptop',
        permissions: [],
        // Younger than the other: of two of one age a random id would decide which is listed first.
        createdAt: new Date(ctx.clock.now().getTime() + 1),
        expiresAt: new Date(ctx.clock.now().getTime() + 3_600_000),
        isLogin: true,
        madeById: user.userId,
        madeBy: user.email,
        hash: loginId.replaceAll('-', '').repeat(2),
      })
      return { user, id, token, loginId }
    }
    const detailOf = async ({ userId }: { userId: string }) => {
      const filter = { userId, action: 'auth.password.change' }
      const [record] = await listAuditRecords(database.pool, filter, { beforeSeq: null, limit: 1, offset: 0 })
      return JSON.parse(record!.detail) as unknown
    }

    it('end with the sessions: whoever had the leaked password may have made them', async () => {
      const { user, id, token, loginId } = await makeTokens()
      expect(await change(user.token, CURRENT, NEXT)).toMatchObject({ status: 204 })
      expect(await invoke(ctx, 'GET /api/me', { as: token })).toMatchObject({ status: 401 })
      expect(await invoke(ctx, 'GET /api/tokens', { as: user.token })).toMatchObject({ json: [] })
      expect(ended).toEqual(expect.arrayContaining([id, loginId]))
      expect(await detailOf(user)).toEqual({ tokens_ended: ['machine', 'laptop'] })
    })

    it('stay where that is asked for, but for those of command lines, which signed in', async () => {
      const { user, token, loginId } = await makeTokens()
      const body = { current_password: CURRENT, new_password: NEXT, keep_tokens: true }
      expect(await invoke(ctx, 'PUT /api/me/password', { as: user.token, body })).toMatchObject({
        status: 204,
      })
      expect(await invoke(ctx, 'GET /api/me', { as: token })).toMatchObject({ status: 200 })
      expect(ended).toContain(loginId)
      expect(await detailOf(user)).toEqual({ tokens_ended: ['laptop'], tokens_kept: ['machine'] })
    })
  })

  it('refuses new passwords that break a rule, counting code points', async () => {
    const user = await signIn(ctx)
    const cases: [unknown, unknown, string][] = [
      ['', NEXT, 'current_password and new_password are required'],
      [CURRENT, null, 'current_password and new_password are required'],
      [CURRENT, 'eleven char', 'new_password must be at least 12 characters'],
      [CURRENT, '😀'.repeat(11), 'new_password must be at least 12 characters'],
      [CURRENT, 'x'.repeat(257), 'new_password must be at most 256 characters'],
      [CURRENT, CURRENT, 'new_password must differ from current_password'],
    ]
    for (const [current, next, error] of cases) {
      expect(await change(user.token, current, next)).toMatchObject({ status: 400, json: { error } })
    }
  })

  it('refuses a wrong current password, and slows down guessing it', async () => {
    const user = await userWithPassword()
    const mismatch = { status: 401, json: { error: 'current password does not match' } }
    for (let n = 0; n < 5; n++) expect(await change(user.token, 'wrong', NEXT)).toMatchObject(mismatch)
    const limited = await change(user.token, CURRENT, NEXT)
    expect(limited).toMatchObject({ status: 429 })
    expect(Number(limited.headers['Retry-After'])).toBeGreaterThan(0)
    ctx.clock.advance(60_000)
    expect(await change(user.token, CURRENT, '😀'.repeat(12))).toMatchObject({ status: 204 })
  })

  it('says that the new password is active when the outside record failed', async () => {
    const auditSink: AuditSink = { deliver: () => Promise.reject(new Error('down')) }
    const broken = createTestContext(database, {
      edition: createEdition({ name: 't', capabilities: [], auditSink }),
    })
    const user = await userWithPassword()
    const answer = await change(user.token, CURRENT, NEXT, { ctx: broken })
    expect(answer).toMatchObject({ status: 503 })
    expect(answer.json).toEqual({ error: 'audit unavailable', side_effect_status: 'applied' })
    expect(await logIn(user.email, NEXT)).toMatchObject({ status: 200 })
    await broken.close()
  })
})
