import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PeopleNames } from '../../../lib/wire/identity.ts'
import { createTestContext, invoke, type SignedIn, signIn } from '../../support/invoke.ts'
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

it('names the administrators who were here last', async () => {
  const names = ['first', 'second', 'third'].map((name) => `${name}@example.com`)
  expect((await ask('', bob.token)).administrators).toEqual(names)
})
