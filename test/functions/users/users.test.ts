import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import { replaceUserGroups } from '../../../lib/store/groups.ts'
import { lockIdentity } from '../../../lib/store/users.ts'
import type { UserRecord } from '../../../lib/wire/identity.ts'
import {
  addSession,
  createTestContext,
  hearEndedSessions,
  invoke,
  type SignedIn,
  signIn,
} from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const SEED = 'seed@example.com'
const ctx = createTestContext(database, {
  config: { seedAdmin: { email: SEED, password: 'unused password' } },
})
afterAll(() => ctx.close())
const ended = hearEndedSessions(ctx)

let admin: SignedIn
beforeEach(async () => {
  await database.pool.execute('DELETE FROM users')
  admin = await signIn(ctx, { email: 'admin@example.com' })
})

const PASSWORD = 'correct horse battery'
const create = (body: object) => invoke(ctx, 'POST /api/users', { as: admin.token, body })
const update = (id: string, body: object) => invoke(ctx, `PATCH /api/users/${id}`, { as: admin.token, body })
const remove = (id: string) => invoke(ctx, `DELETE /api/users/${id}`, { as: admin.token })
const UNKNOWN = '00000000-0000-7000-8000-000000000000'

async function newest() {
  const [record] = await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 })
  return { ...record!, detail: record!.detail && JSON.parse(record!.detail) }
}

describe('POST /api/users', () => {
  it('creates a user who can log in, and records it without the password', async () => {
    const answer = await create({
      email: '  New@Example.com ',
      password: PASSWORD,
      groups: ['viewer', 'editor'],
    })
    expect(answer.status).toBe(201)
    const user = answer.json as UserRecord
    expect(user).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: 'New@Example.com',
      groups: ['editor', 'viewer'],
      created_at: ctx.clock.now().toISOString(),
    })
    expect(await newest()).toMatchObject({
      action: 'user.create',
      userId: admin.userId,
      resourceId: user.id,
      detail: { email: 'New@Example.com', groups: ['editor', 'viewer'] },
    })
    const body = { email: 'new@example.com', password: PASSWORD }
    expect(await invoke(ctx, 'POST /api/auth/login', { body })).toMatchObject({ status: 200 })
    const listed = await invoke(ctx, 'GET /api/users', { as: admin.token })
    expect(listed.json).toContainEqual({ ...user, last_login_at: ctx.clock.now().toISOString() })
  })

  it('refuses an e-mail that looks like that of another user, and names that one', async () => {
    for (const email of ['\u0430dmin@example.com', 'admin\u2060@example.com', '\uff41dmin@example.com'])
      expect(await create({ email, password: PASSWORD, groups: [] }), email).toMatchObject({
        status: 409,
        json: { code: 'email_looks_alike', email: 'admin@example.com' },
      })
  })

  it('refuses a taken e-mail in any case, bad e-mails, short passwords and unknown groups', async () => {
    expect(await create({ email: 'ADMIN@example.com', password: PASSWORD, groups: [] })).toMatchObject({
      status: 409,
      json: { code: 'email_taken' },
    })
    const good = { email: 'x@example.com', password: PASSWORD, groups: ['viewer'] }
    for (const [change, error] of [
      [{ email: '' }, 'email must be an e-mail address'],
      [{ email: 'no address' }, 'email must be an e-mail address'],
      [{ email: 'a\u0000@b' }, 'email must be an e-mail address'],
      [{ password: 'short' }, 'password must be at least 12 characters'],
      [{ groups: ['viewer', 'root'] }, 'unknown group "root"'],
      [{ groups: ['vie\0wer'] }, 'unknown group "vie\\u0000wer"'],
    ] as const) {
      expect(await create({ ...good, ...change })).toMatchObject({ status: 400, json: { error } })
    }
    expect(await create({ ...good, groups: 'viewer' })).toMatchObject({
      status: 400,
      json: { error: 'invalid JSON' },
    })
  })
})

describe('GET /api/users', () => {
  it('lists by age, and pages follow their links', async () => {
    for (let n = 0; n < 4; n++) {
      // Users in pairs with the same creation time, all later than the administrator.
      ctx.clock.advance((n + 1) % 2)
      await signIn(ctx, { email: `u${n}@example.com`, groups: [] })
    }
    const whole = await invoke(ctx, 'GET /api/users', { as: admin.token })
    const emails = (whole.json as UserRecord[]).map((user) => user.email)
    expect(emails).toHaveLength(5)
    expect(emails[0]).toBe('admin@example.com')
    const paged: string[] = []
    let request: string | undefined = '/api/users?limit=2'
    while (request) {
      const answer = await invoke(ctx, `GET ${request}`, { as: admin.token })
      paged.push(...(answer.json as UserRecord[]).map((user) => user.email))
      request = /<([^>]+)>/.exec(answer.headers['Link'] ?? '')?.[1]
    }
    expect(paged).toEqual(emails)
  })
})

describe('PATCH /api/users/{id}', () => {
  it('changes groups at once for sessions that are open, and records both sides', async () => {
    const user = await signIn(ctx, { groups: ['viewer'] })
    const forbidden = await invoke(ctx, 'GET /api/audit/events', { as: user.token })
    expect(forbidden.status).toBe(403)
    const answer = await update(user.userId, { groups: ['administrator'] })
    expect(answer).toMatchObject({ status: 200, json: { groups: ['administrator'] } })
    expect(await newest()).toMatchObject({
      action: 'user.update',
      detail: { groups_before: ['viewer'], groups_after: ['administrator'] },
    })
    expect(await invoke(ctx, 'GET /api/audit/events', { as: user.token })).toMatchObject({ status: 200 })
  })

  it('resets a password and ends all sessions of the user', async () => {
    const user = await signIn(ctx, { groups: ['viewer'] })
    const other = await addSession(ctx, user)
    ended.length = 0
    expect(await update(user.userId, { password: PASSWORD })).toMatchObject({ status: 200 })
    expect(ended.sort()).toEqual([user.sessionId, other.sessionId].sort())
    expect(await invoke(ctx, 'GET /api/me', { as: user.token })).toMatchObject({ status: 401 })
    expect(await newest()).toMatchObject({ action: 'user.update', detail: { password_reset: true } })
    expect((await newest()).detail).toEqual({ password_reset: true })
  })

  it('records nothing when nothing changes', async () => {
    const user = await signIn(ctx, { groups: ['viewer'] })
    const before = await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 })
    expect(await update(user.userId, { groups: ['viewer'], password: null })).toMatchObject({ status: 200 })
    expect(await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 })).toEqual(
      before,
    )
  })

  it('refuses unknown users, unknown groups and bad passwords', async () => {
    expect(await update(UNKNOWN, { groups: [] })).toMatchObject({
      status: 404,
      json: { error: 'user not found' },
    })
    expect(await update('nobody', { groups: [] })).toMatchObject({ status: 404 })
    expect(await update(admin.userId, { groups: ['root'] })).toMatchObject({ status: 400 })
    expect(await update(admin.userId, { password: 'short' })).toMatchObject({ status: 400 })
  })

  it('does not demote the last administrator, nor the seeded one', async () => {
    expect(await update(admin.userId, { groups: ['viewer'] })).toMatchObject({
      status: 409,
      json: { code: 'last_administrator' },
    })
    const seeded = await signIn(ctx, { email: 'SEED@example.com' })
    expect(await update(seeded.userId, { groups: [] })).toMatchObject({
      status: 409,
      json: { code: 'seed_admin' },
    })
    expect(await update(admin.userId, { groups: ['viewer'] })).toMatchObject({ status: 200 })
  })

  it('does not let two administrators demote each other at once', async () => {
    const second = await signIn(ctx, { email: 'second@example.com' })
    let outcome: Promise<unknown> | undefined
    await database.pool.transaction('test', async (tx) => {
      // The other demotion is under way: it has taken the lock and written, but not committed.
      await lockIdentity(tx)
      await replaceUserGroups(tx, second.userId, [])
      outcome = ctx.identity.users.update(second, admin.userId, { groups: [] })
      const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
      await expect.poll(() => database.pool.execute(waiting)).toBe(1)
    })
    expect(await outcome).toEqual({ ok: false, code: 'last-administrator' })
  })
})

describe('DELETE /api/users/{id}', () => {
  it('removes the user with its sessions; the history keeps the e-mail', async () => {
    const user = await signIn(ctx, { email: 'gone@example.com', groups: ['viewer'] })
    await invoke(ctx, 'PUT /api/me/preferences', { as: user.token, body: { theme: 'dark', language: 'fr' } })
    ended.length = 0
    expect(await remove(user.userId)).toMatchObject({ status: 204 })
    expect(ended).toEqual([user.sessionId])
    expect(await invoke(ctx, 'GET /api/me', { as: user.token })).toMatchObject({ status: 401 })
    expect(await newest()).toMatchObject({ action: 'user.delete', detail: { email: 'gone@example.com' } })
    expect(await remove(user.userId)).toMatchObject({ status: 404 })
  })

  it('refuses the last administrator and the seeded one', async () => {
    expect(await remove(admin.userId)).toMatchObject({ status: 409, json: { code: 'last_administrator' } })
    const seeded = await signIn(ctx, { email: SEED })
    expect(await remove(seeded.userId)).toMatchObject({ status: 409, json: { code: 'seed_admin' } })
    expect(await remove(admin.userId)).toMatchObject({ status: 204 })
  })
})
