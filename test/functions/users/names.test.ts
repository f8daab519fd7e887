import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PeopleNames } from '../../../lib/wire/identity.ts'
import { createTestContext, invoke, makeApiToken, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// Whoever may not list the users is told all the same who it is that a record names by an id, and whom to ask.

const database = await useTestDatabase()
const ctx = createTestContext(database)
let ann: SignedIn
let bob: SignedIn
beforeAll(async () => {
  ann = await signIn(ctx, { email: 'ann@example.com', groups: ['editor'] })
  bob = await signIn(ctx, { email: 'bob@example.com', groups: ['viewer'] })
  for (const [at, name] of ['old', 'first', 'second', 'third'].entries()) {
    const { userId } = await signIn(ctx, { email: `${name}@example.com` })
    const before = `now() - ${at === 0 ? 9 : at} * interval '1 day'`
    await database.pool.execute(`update users set last_login_at = ${before} where id = $1`, [userId])
  }
})
afterAll(() => ctx.close())

const ask = async (query = '', as = ann.token) => {
  const { status, json } = await invoke(ctx, `GET /api/people${query}`, { as })
  expect(status).toBe(200)
  return json as PeopleNames
}

it('names those who are asked for by their ids, and nobody else', async () => {
  const unknown = '00000000-0000-7000-8000-000000000000'
  const ids = [bob.userId, unknown, ann.userId, 'nobody', '%00', ''].join(',')
  expect((await ask(`?ids=${ids}`)).people).toEqual([
    { id: ann.userId, name: ann.email },
    { id: bob.userId, name: bob.email },
  ])
  expect((await ask()).people).toEqual([])
})

it('names administrators who were here last, by name: whoever asks again and again learns not when they come', async () => {
  const names = ['first', 'second', 'third'].map((name) => `${name}@example.com`)
  expect((await ask('', bob.token)).administrators).toEqual(names)
  const now = `update users set last_login_at = now() where email = 'third@example.com'`
  await database.pool.execute(now)
  expect((await ask('', bob.token)).administrators).toEqual(names)
})

it('names no administrators to a token, and people only to one that may export or ask', async () => {
  const named = { people: [{ id: bob.userId, name: bob.email }], administrators: [] }
  const told = async (...permissions: string[]) =>
    ask(`?ids=${bob.userId}`, (await makeApiToken(ctx, ann, permissions)).token)
  expect(await told('alert:resolve', 'config:read_content')).toEqual({ people: [], administrators: [] })
  expect(await told('config:request')).toEqual(named)
  expect(await told('reports:export')).toEqual(named)
})

it('names people to a token of somebody who may ask within a scope', async () => {
  const scoped = { name: 'shop', role: 'editor', scope: { key: 'muster/group', values: ['shop'] } }
  const root = await signIn(ctx, { email: 'root@example.com' })
  const made = await invoke(ctx, 'POST /api/groups', { as: root.token, body: scoped })
  expect(made.status, JSON.stringify(made.json)).toBe(201)
  const eve = await signIn(ctx, { groups: ['shop'] })
  const { token } = await makeApiToken(ctx, eve, ['config:request'])
  expect((await ask(`?ids=${bob.userId}`, token)).people).toHaveLength(1)
})
