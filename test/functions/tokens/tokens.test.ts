import { createHash } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { formatApiToken } from '../../../lib/identity/token-authority.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import { findGroups, replaceUserGroups } from '../../../lib/store/groups.ts'
import type { ApiTokenCreated, ApiTokenRecord } from '../../../lib/wire/identity.ts'
import {
  createTestContext,
  hearEndedSessions,
  invoke,
  makeApiToken,
  type SignedIn,
  signIn,
} from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const DAY_MS = 86_400_000
const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
const ended = hearEndedSessions(ctx)

let admin: SignedIn
let editor: SignedIn
beforeEach(async () => {
  await database.pool.execute('delete from users')
  admin = await signIn(ctx, { email: 'admin@example.com' })
  editor = await signIn(ctx, { email: 'ed@example.com', groups: ['editor'] })
  await database.pool.execute('update users set last_login_at = $1', [ctx.clock.now()])
})

const inDays = (days: number) => new Date(ctx.clock.now().getTime() + days * DAY_MS).toISOString()
const create = (body: object, as = editor.token) => invoke(ctx, 'POST /api/tokens', { as, body })
const GOOD = { name: 'ci', permissions: ['config:create', 'workload:push_config'] }
const make = async (body: object = {}) =>
  (await create({ ...GOOD, expires_at: inDays(90), ...body })).json as ApiTokenCreated
const me = (as: string, more: object = {}) => invoke(ctx, 'GET /api/me', { as, ...more })
const newest = async () =>
  (await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 }))[0]!

describe('POST /api/tokens', () => {
  it('tells the token once, keeps its SHA-256 only, and records who made what', async () => {
    const answer = await create({ ...GOOD, expires_at: inDays(90) })
    const made = answer.json as ApiTokenCreated
    expect(answer).toMatchObject({ status: 201, headers: { 'Cache-Control': 'no-store' } })
    expect(made.token).toMatch(/^mst_[\w-]{43}$/)
    const [row] = await database.pool.query<Record<string, unknown>>('select * from api_tokens')
    expect(row!['hash']).toBe(createHash('sha256').update(made.token).digest('hex'))
    const record = await newest()
    expect(record).toMatchObject({ action: 'token.create', userId: editor.userId, resourceId: made.id })
    expect(JSON.parse(record.detail)).toEqual({
      ...GOOD,
      holder: 'ed@example.com',
      expires_at: made.expires_at,
    })
    const listed = await invoke(ctx, 'GET /api/tokens', { as: editor.token })
    const { token, ...shown } = made
    expect(listed.json).toEqual([shown])
    for (const text of [JSON.stringify(row), JSON.stringify(record), listed.text])
      expect(text).not.toContain(token.slice(4))
  })

  it('refuses what has no name, lives for ever, or may more than its holder', async () => {
    for (const [change, error] of [
      [{ name: ' ' }, 'name must be 1 to 64 characters'],
      [{ name: 'a\u0000b' }, 'name must be 1 to 64 characters'],
      [{ expires_at: '' }, 'expires_at must be a time, as 2027-01-31T00:00:00Z'],
      [{ expires_at: '12' }, 'expires_at must be a time, as 2027-01-31T00:00:00Z'],
      [{ expires_at: inDays(-1) }, 'expires_at must be in the future'],
      [{ expires_at: inDays(367) }, 'expires_at must be at most a year away'],
      [{ permissions: ['root'] }, 'unknown permission "root"'],
      [{ permissions: ['users:manage'] }, 'the holder does not have "users:manage"'],
    ] as const)
      expect(await create({ ...GOOD, expires_at: inDays(1), ...change })).toMatchObject({
        status: 400,
        json: { error },
      })
    expect((await invoke(ctx, 'GET /api/tokens', { as: editor.token })).json).toEqual([])
  })

  it('makes so many of one holder and no more', async () => {
    for (let n = 0; n < 100; n++) await make({ name: `t${n}` })
    expect(await create({ ...GOOD, expires_at: inDays(1) })).toMatchObject({
      status: 409,
      json: { code: 'too_many_tokens' },
    })
  })
})

describe('a token', () => {
  it('may what it was given as far as its holder may it now', async () => {
    const { token } = await make()
    expect((await me(token)).json).toMatchObject({ email: 'ed@example.com', permissions: GOOD.permissions })
    expect(await invoke(ctx, 'GET /api/users', { as: token })).toMatchObject({ status: 403 })
    const viewer = await findGroups(ctx.db, ['viewer'])
    await invoke(ctx, `PATCH /api/users/${editor.userId}`, { as: admin.token, body: { groups: ['viewer'] } })
    expect((await me(token)).json).toMatchObject({ permissions: [] })
    // Rights that the holder gets later do not extend the token.
    await replaceUserGroups(ctx.db, editor.userId, [viewer[0]!.id, 'grp_system_administrator'])
    ctx.clock.advance(30_000)
    expect((await me(token)).json).toMatchObject({ permissions: GOOD.permissions })
  })

  it('is no cookie, and acts by name in the audit log', async () => {
    const { token } = await make()
    expect(await invoke(ctx, 'GET /api/me', { headers: { cookie: `om_session=${token}` } })).toMatchObject({
      status: 401,
    })
    const yaml =
      'receivers: {otlp: {protocols: {grpc: }}}\nexporters: {debug: }\nservice: {pipelines: {traces: {receivers: [otlp], exporters: [debug]}}}\n'
    const body = { name: 'from ci', content: yaml }
    expect(await invoke(ctx, 'POST /api/configs', { as: token, body })).toMatchObject({ status: 201 })
    expect(await newest()).toMatchObject({
      action: 'config.create',
      userId: editor.userId,
      email: 'ed@example.com (token ci)',
    })
  })

  it('ends with its time, and is listed for another 30 days', async () => {
    const { token, id } = await make({ expires_at: inDays(1) })
    expect(await me(token)).toMatchObject({ status: 200 })
    ctx.clock.advance(DAY_MS)
    expect(await me(token)).toMatchObject({ status: 401, json: { error: 'unauthorized' } })
    await ctx.identity.trim()
    const again = await signIn(ctx, { email: 'second@example.com' })
    const listed = () => invoke(ctx, `GET /api/users/${editor.userId}/tokens`, { as: again.token })
    expect((await listed()).json).toMatchObject([{ id }])
    ctx.clock.advance(30 * DAY_MS)
    await ctx.identity.trim()
    const later = await signIn(ctx, { email: 'third@example.com' })
    expect((await invoke(ctx, `GET /api/users/${editor.userId}/tokens`, { as: later.token })).json).toEqual(
      [],
    )
  })

  it('works for 14 days after its holder signed in, and again after the next time', async () => {
    const { token } = await make()
    ctx.clock.advance(14 * DAY_MS - 1)
    expect(await me(token)).toMatchObject({ status: 200 })
    ctx.clock.advance(1)
    expect(await me(token)).toMatchObject({ status: 403, json: { code: 'holder_inactive' } })
    await database.pool.execute('update users set last_login_at = $1', [ctx.clock.now()])
    ctx.clock.advance(30_000)
    expect(await me(token)).toMatchObject({ status: 200 })
  })

  it('notes the minute of its last use', async () => {
    const { token } = await make()
    ctx.clock.set(new Date('2026-08-01T10:00:59.900Z'))
    await database.pool.execute('update users set last_login_at = $1', [ctx.clock.now()])
    const lastUse = async () =>
      (await database.pool.query<{ at: Date | null }>('select last_used_at as at from api_tokens'))[0]!.at
    expect(await lastUse()).toBeNull()
    await me(token)
    expect(await lastUse()).toEqual(new Date('2026-08-01T10:00:00.000Z'))
    ctx.clock.advance(60_000)
    await me(token)
    expect(await lastUse()).toEqual(new Date('2026-08-01T10:01:00.000Z'))
  })
})

describe('revoking', () => {
  it('ends a token at once, sockets too, for the holder only', async () => {
    const { token, id } = await make()
    expect(await me(token)).toMatchObject({ status: 200 })
    const other = await signIn(ctx, { email: 'other@example.com' })
    const revoke = (as: string) => invoke(ctx, `DELETE /api/tokens/${id}`, { as })
    expect(await revoke(other.token)).toMatchObject({ status: 404 })
    expect(await revoke(editor.token)).toMatchObject({ status: 204 })
    expect(await me(token)).toMatchObject({ status: 401 })
    expect(ended).toContain(id)
    expect(await newest()).toMatchObject({ action: 'token.revoke', userId: editor.userId, resourceId: id })
    expect(await revoke(editor.token)).toMatchObject({ status: 404, json: { error: 'token not found' } })
  })

  it('is done by an administrator, by a reset of the password, and with the holder', async () => {
    const [first, second, third] = [await make(), await make(), await make()]
    const asAdmin = { as: admin.token }
    const ofEditor = `/api/users/${editor.userId}`
    expect(await invoke(ctx, `DELETE ${ofEditor}/tokens/${first.id}`, asAdmin)).toMatchObject({ status: 204 })
    expect(await me(first.token)).toMatchObject({ status: 401 })
    expect(await me(second.token)).toMatchObject({ status: 200 })
    const body = { password: 'correct horse battery' }
    expect(await invoke(ctx, `PATCH ${ofEditor}`, { ...asAdmin, body })).toMatchObject({ status: 200 })
    expect(await me(second.token)).toMatchObject({ status: 401 })
    expect(ended).toEqual(expect.arrayContaining([first.id, second.id, third.id]))
    const last = await makeApiToken(ctx, await signIn(ctx, { email: 'last@example.com' }))
    expect(await me(last.token)).toMatchObject({ status: 200 })
    const lastUser = (await me(last.token)).json as { id: string }
    await invoke(ctx, `DELETE /api/users/${lastUser.id}`, asAdmin)
    expect(await me(last.token)).toMatchObject({ status: 401 })
    expect(ended).toContain(last.id)
  })

  it('is what a token does to itself by logging out', async () => {
    const { token, id } = await make()
    expect(await invoke(ctx, 'POST /api/auth/logout', { as: token })).toMatchObject({ status: 204 })
    expect(await me(token)).toMatchObject({ status: 401 })
    expect(await newest()).toMatchObject({ action: 'token.revoke', resourceId: id })
  })
})

describe('unknown tokens', () => {
  const unknown = (n: number) => formatApiToken(new Uint8Array(32).fill(n))

  it('are 30 a minute from one address; known ones go on, used before or not', async () => {
    const [used, fresh] = [await make(), await make()]
    const remoteAddress = '198.51.100.7'
    expect(await me(used.token, { remoteAddress })).toMatchObject({ status: 200 })
    for (let n = 0; n < 30; n++)
      expect(await me(unknown(n), { remoteAddress })).toMatchObject({ status: 401 })
    expect(await me(unknown(31), { remoteAddress })).toMatchObject({
      status: 429,
      json: { code: 'token_limited' },
      headers: { 'Retry-After': '60' },
    })
    expect(await me(fresh.token, { remoteAddress })).toMatchObject({ status: 200 })
    ctx.clock.advance(59_999)
    // The used token still works for an address that is limited, even a minute later and after a change of its holder
    // has made every cache forget it.
    await invoke(ctx, `PATCH /api/users/${editor.userId}`, { as: admin.token, body: { groups: ['viewer'] } })
    expect(await me(used.token, { remoteAddress })).toMatchObject({ status: 200 })
    expect(await me(unknown(31), { remoteAddress })).toMatchObject({ status: 429 })
    ctx.clock.advance(1)
    expect(await me(unknown(31), { remoteAddress })).toMatchObject({ status: 401 })
  })

  it('that are none at all are not even looked for', async () => {
    for (const token of ['mst_', 'mst_short', `mst_${'a'.repeat(44)}`, `mst_${'+'.repeat(43)}`])
      for (let n = 0; n < 10; n++)
        expect(await me(token, { remoteAddress: '198.51.100.9' })).toMatchObject({ status: 401 })
  })
})

describe('GET /api/users/:id/tokens', () => {
  it('shows them to whoever administers users', async () => {
    const { token: _, ...shown } = await make()
    const list = (id: string) => invoke(ctx, `GET /api/users/${id}/tokens`, { as: admin.token })
    expect((await list(editor.userId)).json).toEqual([shown satisfies ApiTokenRecord])
    expect((await list(admin.userId)).json).toEqual([])
    expect(await list('00000000-0000-7000-8000-000000000000')).toMatchObject({ status: 404 })
  })
})
