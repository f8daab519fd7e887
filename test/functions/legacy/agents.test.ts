import { afterAll, expect, it } from 'vitest'
import { createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())
const viewer = await signIn(ctx, { groups: ['viewer'] })

it('sends the former paths on with their query, but never to another host', async () => {
  const call = (target: string) => invoke(ctx, target, { as: viewer.token })
  expect(await call('GET /api/agents?include_archived=true')).toMatchObject({
    status: 307,
    headers: { Location: '/api/workloads?include_archived=true' },
  })
  expect(await call('POST /api/agents/x/config/validate?a=b')).toMatchObject({
    headers: { Location: '/api/workloads/x/config/validate?a=b' },
  })
  expect(await invoke(ctx, 'GET /api/agents')).toMatchObject({ status: 401 })
})
