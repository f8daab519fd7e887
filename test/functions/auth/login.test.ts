import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, describe, expect, it } from 'vitest'
import type { AuditSink } from '../../../lib/audit/delivery.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import { createEdition } from '../../../runtime/editions.ts'
import { createTestContext, invoke, signIn, type TestContext } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
const admin = await signIn(ctx)

const PASSWORD = 'correct horse battery'
const OPS = 'Ops@Example.com'

async function addUser(email: string, groups: string[] = ['editor']): Promise<string> {
  const body = { email, password: PASSWORD, groups }
  const answer = await invoke(ctx, 'POST /api/users', { as: admin.token, body })
  return (answer.json as { id: string }).id
}

const userId = await addUser(OPS)

const logIn = (
  email: string,
  password: string,
  more: { address?: string; isSecure?: boolean; ctx?: TestContext } = {},
) =>
  invoke(more.ctx ?? ctx, 'POST /api/auth/login', {
    body: { email, password },
    remoteAddress: more.address,
    isSecure: more.isSecure,
  })

const newest = async () =>
  (await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 }))[0]!

describe('POST /api/auth/login', () => {
  it('takes an e-mail that no database can hold for an unknown one, and counts it', async () => {
    for (let i = 0; i < 5; i++)
      expect(await logIn('no\0body@example.com', PASSWORD)).toMatchObject({
        status: 401,
        json: { error: 'invalid credentials' },
      })
    expect((await logIn('no\0body@example.com', PASSWORD)).status).toBe(429)
    expect(await newest()).toMatchObject({ action: 'auth.login.failure', detail: 'no\uFFFDbody@example.com' })
  })

  it('gives a token, the same in a cookie, and records it', async () => {
    const answer = await logIn('  ops@example.COM ', PASSWORD)
    expect(answer.status).toBe(200)
    const { token } = answer.json as { token: string }
    expect(answer.json).toEqual({ token })
    expect(answer.cookies).toEqual([`om_session=${token}; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax`])
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'JWT' })
    const issuedS = ctx.clock.now().getTime() / 1_000
    expect(decodeJwt(token)).toEqual({
      user_id: userId,
      email: OPS,
      groups: ['editor'],
      jti: expect.any(String),
      iat: issuedS,
      exp: issuedS + 86_400,
    })
    expect(await newest()).toMatchObject({ action: 'auth.login.success', userId, email: OPS, detail: '' })
    expect(await invoke(ctx, 'GET /api/me', { as: token })).toMatchObject({ status: 200 })
  })

  it('marks the cookie Secure behind TLS, and has no groups claim for a user without groups', async () => {
    await addUser('lonely@example.com', [])
    const answer = await logIn('lonely@example.com', PASSWORD, { isSecure: true })
    expect(answer.cookies[0]).toContain('HttpOnly; Secure; SameSite=Lax')
    expect(decodeJwt((answer.json as { token: string }).token)).not.toHaveProperty('groups')
  })

  it('refuses a wrong password and an unknown user alike, and records the e-mail that was tried', async () => {
    const wrong = await logIn(OPS, 'wrong', { address: '192.0.2.10' })
    expect(wrong).toMatchObject({ status: 401, json: { error: 'invalid credentials' }, cookies: [] })
    expect(await newest()).toMatchObject({ action: 'auth.login.failure', userId: '', email: '', detail: OPS })
    const unknown = await logIn('nobody@example.com', PASSWORD, { address: '192.0.2.10' })
    expect(unknown.text).toBe(wrong.text)
  })

  it('keeps a password that was typed as the e-mail out of the audit log', async () => {
    await logIn('hunter2-and-more', 'x', { address: '192.0.2.11' })
    expect(await newest()).toMatchObject({ action: 'auth.login.failure', detail: '' })
  })

  it('refuses empty fields and bodies that are none', async () => {
    const missing = { status: 400, json: { error: 'email and password are required' } }
    expect(await logIn('', PASSWORD)).toMatchObject(missing)
    expect(await invoke(ctx, 'POST /api/auth/login', { body: { email: OPS, password: null } })).toMatchObject(
      missing,
    )
    for (const body of ['', '[]', '{}{}', '{"email":1}', '\ufeff{}', 'x']) {
      const answer = await invoke(ctx, 'POST /api/auth/login', { body })
      expect(answer).toMatchObject({ status: 400, json: { error: 'invalid JSON' } })
    }
    const large = await invoke(ctx, 'POST /api/auth/login', { body: `{}${' '.repeat(1_048_576)}` })
    expect(large).toMatchObject({ status: 413, json: { error: 'request body too large' } })
  })

  it('refuses an e-mail that no account can have before it looks, records or counts', async () => {
    const before = await newest()
    const address = '192.0.2.40'
    for (let n = 0; n < 40; n++)
      expect(
        await logIn(`${'€'.repeat(240)}${n}@elsewhere.example.com`, PASSWORD, { address }),
      ).toMatchObject({
        status: 400,
        json: { error: 'email must be at most 254 characters' },
      })
    expect(await newest()).toEqual(before)
    expect(await logIn(OPS, PASSWORD, { address })).toMatchObject({ status: 200 })
    const longest = `${'a'.repeat(242)}@example.com`
    expect(longest).toHaveLength(254)
    expect(await logIn(longest, PASSWORD, { address })).toMatchObject({ status: 401 })
    expect(await logIn(`a${longest}`, PASSWORD, { address })).toMatchObject({ status: 400 })
  })

  it('signs nobody in for a page that is elsewhere, whatever it calls its body', async () => {
    const body = JSON.stringify({ email: OPS, password: PASSWORD })
    const from = (origin: string, more: Record<string, string> = {}) =>
      invoke(ctx, 'POST /api/auth/login', {
        body,
        headers: { host: 'muster.example', origin, ...more },
        remoteAddress: '192.0.2.50',
      })
    const before = await newest()
    for (const origin of ['https://evil.example', 'null', 'http://muster.example.evil.example'])
      for (const type of ['text/plain', 'application/json'])
        expect(await from(origin, { 'content-type': type })).toMatchObject({
          status: 403,
          json: { error: 'origin not allowed' },
          cookies: [],
        })
    expect(await newest()).toEqual(before)
    expect((await from('https://muster.example')).cookies).toHaveLength(1)
    // An origin that CORS_ORIGINS allows by default may use a token, but gets no session cookie.
    expect(await from('http://localhost:5173')).toMatchObject({ status: 200, cookies: [] })
    const open = createTestContext(database, {
      config: { corsOrigins: ['https://console.example'], cookieOrigins: ['https://console.example'] },
    })
    const named = await invoke(open, 'POST /api/auth/login', {
      body,
      headers: { host: 'muster.example', origin: 'https://console.example' },
    })
    expect(named.cookies).toHaveLength(1)
    await open.close()
  })

  it('stops guesses after five a minute, the right password included, and forgets them after that', async () => {
    const address = '192.0.2.20'
    for (let n = 0; n < 5; n++) expect(await logIn(OPS, 'wrong', { address })).toMatchObject({ status: 401 })
    const limited = await logIn(OPS, PASSWORD, { address })
    expect(limited).toMatchObject({ status: 429, json: { error: 'too many login attempts' } })
    expect(limited.headers['Retry-After']).toBe('60')
    expect(await logIn(OPS, PASSWORD, { address: '192.0.2.21' })).toMatchObject({ status: 200 })
    ctx.clock.advance(60_000)
    expect(await logIn(OPS, PASSWORD, { address })).toMatchObject({ status: 200 })
  })

  it('counts attempts in flight, so that parallel guesses do not get more', async () => {
    const guesses = Array.from({ length: 12 }, () => logIn(OPS, 'wrong', { address: '192.0.2.30' }))
    const statuses = (await Promise.all(guesses)).map((answer) => answer.status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(7)
  })

  it('is 503 without a cookie, a session or a record when the audit sink is down', async () => {
    const auditSink: AuditSink = { deliver: () => Promise.reject(new Error('down')) }
    const broken = createTestContext(database, {
      edition: createEdition({ name: 't', capabilities: [], auditSink }),
    })
    const count = () => database.pool.query('SELECT count(*) AS n FROM sessions')
    const before = { sessions: await count(), head: await newest() }
    for (const password of [PASSWORD, 'wrong']) {
      const answer = await logIn(OPS, password, { ctx: broken })
      expect(answer).toMatchObject({ status: 503, cookies: [] })
      expect(answer.json).toEqual({ error: 'audit unavailable', side_effect_status: 'none' })
    }
    expect({ sessions: await count(), head: await newest() }).toEqual(before)
    await broken.close()
  })
})
