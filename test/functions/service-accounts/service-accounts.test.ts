import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import type {
  ApiTokenCreated,
  ServiceAccountChanged,
  ServiceAccountRecord,
} from '../../../lib/wire/identity.ts'
import { createTestContext, hearEndedSessions, invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const DAY_MS = 86_400_000
const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
const ended = hearEndedSessions(ctx)

let admin: SignedIn
let owner: SignedIn
beforeEach(async () => {
  await database.pool.execute('delete from users')
  admin = await signIn(ctx, { email: 'admin@example.com' })
  owner = await signIn(ctx, { email: 'owner@example.com', groups: ['viewer'] })
})

const call = (request: string, body?: object) => invoke(ctx, request, { as: admin.token, body })
const create = (change: object = {}) =>
  call('POST /api/service-accounts', {
    name: 'deploy-bot',
    owner_id: owner.userId,
    groups: ['editor'],
    ...change,
  })
const make = async () => (await create()).json as ServiceAccountRecord
const makeToken = async (id: string) => {
  const body = {
    name: 'ci',
    permissions: ['workload:push_config'],
    expires_at: new Date(ctx.clock.now().getTime() + 365 * DAY_MS).toISOString(),
  }
  return (await call(`POST /api/service-accounts/${id}/tokens`, body)).json as ApiTokenCreated
}
const me = (as: string) => invoke(ctx, 'GET /api/me', { as })
const newest = async () =>
  (await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 }))[0]!

describe('a service account', () => {
  it('acts through its tokens, with no sign-in and under its own name', async () => {
    const account = await make()
    expect(account).toEqual({
      id: account.id,
      name: 'deploy-bot',
      groups: ['editor'],
      created_at: ctx.clock.now().toISOString(),
      owner: { id: owner.userId, email: 'owner@example.com' },
    })
    expect(await newest()).toMatchObject({ action: 'service_account.create', userId: admin.userId })
    const { token, id } = await makeToken(account.id)
    ctx.clock.advance(364 * DAY_MS)
    expect((await me(token)).json).toMatchObject({
      id: account.id,
      email: 'service:deploy-bot',
      permissions: ['workload:push_config'],
    })
    const later = await signIn(ctx, { email: 'later@example.com' })
    const listed = await invoke(ctx, `GET /api/users/${account.id}/tokens`, { as: later.token })
    expect(listed.json).toMatchObject([{ id, last_used_at: expect.any(String) }])
  })

  it('says of each token who made it, and at a change of its owner which of them the former one has', async () => {
    const boss = await signIn(ctx, { email: 'boss@example.com' })
    const account = (await create({ owner_id: boss.userId })).json as ServiceAccountRecord
    const path = `/api/service-accounts/${account.id}`
    const make = async (as: SignedIn, name: string, days: number) => {
      ctx.clock.advance(1_000)
      const end = new Date(ctx.clock.now().getTime() + days * DAY_MS).toISOString()
      const body = { name, permissions: [], expires_at: end }
      expect((await invoke(ctx, `POST ${path}/tokens`, { as: as.token, body })).json).toMatchObject({
        made_by: as.email,
      })
    }
    await make(boss, 'ci', 300)
    await make(boss, 'over', 1)
    await make(admin, 'nightly', 300)
    ctx.clock.advance(2 * DAY_MS)
    admin = await signIn(ctx, { email: 'third@example.com' })
    const listed = await call(`GET /api/users/${account.id}/tokens`)
    expect(listed.json).toMatchObject([
      { name: 'ci', made_by: 'boss@example.com' },
      { name: 'over', made_by: 'boss@example.com' },
      { name: 'nightly', made_by: 'admin@example.com' },
    ])
    const change = async (owner_id: string) =>
      (await call(`PATCH ${path}`, { owner_id })).json as ServiceAccountChanged
    const names = async (id: string) => (await change(id)).tokens_of_former_owner?.map(({ name }) => name)
    expect(await names(boss.userId)).toBeUndefined()
    expect(await names(owner.userId)).toEqual(['ci'])
    expect(JSON.parse((await newest()).detail)).toMatchObject({ tokens_of_former_owner: ['ci'] })
    // Whoever made them may be gone by then, and the account without an owner.
    await change(boss.userId)
    expect((await call(`DELETE /api/users/${boss.userId}`)).status).toBe(204)
    expect(await names(owner.userId)).toEqual(['ci'])
    expect(await call(`GET /api/users/${account.id}/tokens`)).toMatchObject({
      json: [{ made_by: 'boss@example.com' }, {}, {}],
    })
  })

  it('is no user: it is not listed as one, cannot log in, and is no administrator who may be left alone', async () => {
    const account = await make()
    expect((await call('GET /api/users')).json).toHaveLength(2)
    expect((await call('GET /api/service-accounts')).json).toEqual([account])
    const body = { email: 'service:deploy-bot', password: 'correct horse battery' }
    expect(await invoke(ctx, 'POST /api/auth/login', { body })).toMatchObject({ status: 401 })
    for (const request of [`PATCH /api/users/${account.id}`, `DELETE /api/users/${account.id}`])
      expect(await call(request, { groups: ['administrator'] })).toMatchObject({ status: 404 })
    await call(`PATCH /api/service-accounts/${account.id}`, { groups: ['administrator'] })
    expect(await call(`PATCH /api/users/${admin.userId}`, { groups: ['viewer'] })).toMatchObject({
      status: 409,
      json: { code: 'last_administrator' },
    })
  })

  it('needs a good name of its own, an owner who is a person, and known groups', async () => {
    const account = await make()
    expect(await create()).toMatchObject({ status: 409, json: { code: 'service_account_taken' } })
    for (const [change, error] of [
      [{ name: 'Deploy Bot' }, 'name must be lower-case letters, digits, ".", "_" and "-", 63 at most'],
      [{ name: 'auto-rollback' }, 'name must be lower-case letters, digits, ".", "_" and "-", 63 at most'],
      [{ name: '' }, 'name must be lower-case letters, digits, ".", "_" and "-", 63 at most'],
      [{ name: 'x', owner_id: account.id }, 'owner_id must be the id of a user'],
      [{ name: 'x', owner_id: 'nobody' }, 'owner_id must be the id of a user'],
      [{ name: 'x', groups: ['root'] }, 'unknown group "root"'],
    ] as const)
      expect(await create(change)).toMatchObject({ status: 400, json: { error } })
  })

  it('has the name of nobody who signs in through a provider', async () => {
    await database.pool.execute(
      `insert into users (id, email, kind, issuer, subject, created_at)
       values (gen_random_uuid(), 'Deploy-Bot', 'external', 'https://issuer.example', 'd', now())`,
    )
    expect(await create()).toMatchObject({ status: 409, json: { code: 'service_account_taken' } })
  })

  it('stops when its owner is removed, sockets too, until another one answers for it', async () => {
    const account = await make()
    const { token, id } = await makeToken(account.id)
    expect(await me(token)).toMatchObject({ status: 200 })
    await call(`DELETE /api/users/${owner.userId}`)
    expect(await me(token)).toMatchObject({ status: 403, json: { code: 'holder_inactive' } })
    expect(ended).toContain(id)
    const path = `/api/service-accounts/${account.id}`
    const { owner: _, ...ownerless } = account
    expect((await call('GET /api/service-accounts')).json).toEqual([ownerless])
    expect((await call(`PATCH ${path}`, { owner_id: admin.userId })).json).toMatchObject({
      owner: { email: 'admin@example.com' },
    })
    expect(await newest()).toMatchObject({ action: 'service_account.update', resourceId: account.id })
    expect(await me(token)).toMatchObject({ status: 200 })
  })

  it('loses rights with its groups, and its tokens with itself', async () => {
    const account = await make()
    const { token, id } = await makeToken(account.id)
    const path = `/api/service-accounts/${account.id}`
    expect((await me(token)).json).toMatchObject({ permissions: ['workload:push_config'] })
    await call(`PATCH ${path}`, { groups: ['viewer'] })
    expect((await me(token)).json).toMatchObject({ permissions: [] })
    expect(await call(`DELETE ${path}`)).toMatchObject({ status: 204 })
    expect(await me(token)).toMatchObject({ status: 401 })
    expect(ended).toContain(id)
    expect(JSON.parse((await newest()).detail)).toEqual({
      name: 'deploy-bot',
      groups: ['viewer'],
      tokens: ['ci'],
    })
    for (const request of [`PATCH ${path}`, `DELETE ${path}`, `POST ${path}/tokens`])
      expect(await call(request, {})).toMatchObject({
        status: 404,
        json: { error: 'service account not found' },
      })
  })
})

describe('a token for somebody else', () => {
  it('is made for service accounts only', async () => {
    const body = { name: 'x', expires_at: new Date(ctx.clock.now().getTime() + DAY_MS).toISOString() }
    expect(await call(`POST /api/service-accounts/${owner.userId}/tokens`, body)).toMatchObject({
      status: 404,
    })
  })
})
