import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { IN_PERSON, IN_PERSON_IN_PART, PERMISSIONS } from '../../../lib/model/permissions.ts'
import type { ServiceAccountRecord } from '../../../lib/wire/identity.ts'
import type { RightsRecord } from '../../../lib/wire/rights.ts'
import { loadFunctions } from '../../../runtime/loader.ts'
import { FUNCTIONS } from '../../../runtime/manifest.generated.ts'
import {
  addSession,
  createTestContext,
  invoke,
  makeApiToken,
  type SignedIn,
  signIn,
  type TestContext,
} from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const DAY_MS = 86_400_000
const database = await useTestDatabase()
let ctx: TestContext
let admin: SignedIn
let editor: SignedIn

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from users')
  ctx = createTestContext(database)
  admin = await signIn(ctx, { email: 'admin@example.com' })
  editor = await signIn(ctx, { email: 'ed@example.com', groups: ['editor', 'viewer'] })
})
afterAll(() => ctx.close())

const call = (as: SignedIn, request: string, body?: object) => invoke(ctx, request, { as: as.token, body })
const read = async (id: string) => (await call(admin, `GET /api/users/${id}/rights`)).json as RightsRecord
const rightOf = (rights: RightsRecord, permission: string) =>
  rights.rights.find((right) => right.permission === permission)

describe('what a person may do', () => {
  it('is said of every right there is, with the group that gives it, and agrees with what /api/me says', async () => {
    const rights = await read(editor.userId)
    expect(rights).toMatchObject({
      id: editor.userId,
      name: 'ed@example.com',
      kind: 'person',
      tokens: [],
      groups: [
        { name: 'editor', role: 'editor' },
        { name: 'viewer', role: 'viewer' },
      ],
    })
    expect(rights.rights.map(({ permission }) => permission)).toEqual([...PERMISSIONS])
    expect(rightOf(rights, 'config:approve')).toEqual({ permission: 'config:approve', groups: ['editor'] })
    expect(rightOf(rights, 'users:manage')).toEqual({ permission: 'users:manage', groups: [] })
    const { permissions } = (await call(editor, 'GET /api/me')).json as { permissions: string[] }
    const held = rights.rights.flatMap(({ permission, groups }) => (groups.length > 0 ? permission : []))
    expect(held).toEqual(permissions)
  })

  it('is read by oneself, and of others only by who manages users', async () => {
    expect((await call(editor, 'GET /api/me/rights')).json).toEqual(await read(editor.userId))
    expect(await call(editor, `GET /api/users/${admin.userId}/rights`)).toMatchObject({ status: 403 })
    const unknown = '00000000-0000-7000-8000-000000000000'
    expect(await call(admin, `GET /api/users/${unknown}/rights`)).toMatchObject({ status: 404 })
    expect(await call(admin, 'GET /api/users/none/rights')).toMatchObject({ status: 404 })
  })
})

describe('what a token may do', () => {
  it('is its own cut with its holder’s, without what needs a person, and says why of the rest', async () => {
    const { id, token } = await makeApiToken(ctx, editor, [
      'config:approve',
      'config:request',
      'reports:export',
    ])
    const [before] = (await read(editor.userId)).tokens
    expect(before).toMatchObject({
      id,
      name: 'machine',
      rights: ['config:request', 'reports:export'],
      withheld: [{ permission: 'config:approve', why: 'needs_person' }],
    })
    expect(before).not.toHaveProperty('idle')
    await call(admin, `PATCH /api/users/${editor.userId}`, { groups: ['viewer'] })
    const [after] = (await read(editor.userId)).tokens
    expect(after).toMatchObject({ rights: [], withheld: [{}, { why: 'not_held' }, {}] })
    expect((await invoke(ctx, 'GET /api/me', { as: token })).json).toMatchObject({ permissions: [] })
  })

  it('is nothing once its holder has not signed in for long, or it has ended', async () => {
    const { token } = await makeApiToken(ctx, editor, ['config:request'])
    const idle = async () => (await read(editor.userId)).tokens[0]?.idle
    ctx.clock.advance(14 * DAY_MS - 1)
    admin = await addSession(ctx, admin)
    expect(await idle()).toBeUndefined()
    ctx.clock.advance(1)
    expect(await idle()).toBe('holder_inactive')
    expect(await invoke(ctx, 'GET /api/me', { as: token })).toMatchObject({ status: 403 })
    ctx.clock.advance(90 * DAY_MS)
    admin = await addSession(ctx, admin)
    expect(await idle()).toBe('expired')
  })
})

describe('a service account', () => {
  it('is never an approver, and its tokens wait while nobody owns it', async () => {
    const body = { name: 'bot', owner_id: editor.userId, groups: ['editor'] }
    const { id } = (await call(admin, 'POST /api/service-accounts', body)).json as ServiceAccountRecord
    const expires_at = new Date(ctx.clock.now().getTime() + DAY_MS).toISOString()
    const asked = { name: 'ci', permissions: ['config:request'], expires_at }
    await call(admin, `POST /api/service-accounts/${id}/tokens`, asked)
    const rights = await read(id)
    expect(rights).toMatchObject({ name: 'bot', kind: 'service', tokens: [{ rights: ['config:request'] }] })
    expect(rightOf(rights, 'config:approve')).toMatchObject({ withheld: 'needs_person' })
    expect(rightOf(rights, 'config:request')).not.toHaveProperty('withheld')
    await call(admin, `DELETE /api/users/${editor.userId}`)
    expect((await read(id)).tokens).toMatchObject([{ idle: 'ownerless' }])
  })
})

it('what is said to need a person does, wherever it is asked for', () => {
  const asking = loadFunctions(FUNCTIONS).http.flatMap(({ definition: { route, access } }) =>
    access.kind === 'signed-in' && access.permission !== null && IN_PERSON.includes(access.permission)
      ? { route, credential: access.credential }
      : [],
  )
  expect(asking.length).toBeGreaterThan(3)
  expect(asking.filter(({ credential }) => credential !== 'session')).toEqual([])
})

it('what is said to need a person in part is asked for by some endpoints of people only, and by some of tokens too', () => {
  const credentials = new Map<string, Set<string>>()
  for (const { definition } of loadFunctions(FUNCTIONS).http) {
    const { access } = definition
    if (access.kind !== 'signed-in' || access.permission === null) continue
    const known = credentials.get(access.permission) ?? new Set()
    credentials.set(access.permission, known.add(access.credential))
  }
  const mixed = [...credentials].filter(([, known]) => known.size > 1).map(([permission]) => permission)
  expect(mixed.sort()).toEqual([...IN_PERSON_IN_PART])
})

it('every right is asked for somewhere: one that nothing asks for would be offered for tokens all the same', () => {
  const asked = loadFunctions(FUNCTIONS).http.flatMap(({ definition: { access, body } }) => [
    access.kind === 'signed-in' ? access.permission : null,
    ...(body.kind === 'json' ? body.also.map(({ permission }) => permission) : []),
  ])
  expect(PERMISSIONS.filter((permission) => !asked.includes(permission))).toEqual([])
})
