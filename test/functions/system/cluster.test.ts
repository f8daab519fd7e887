import { afterAll, describe, expect, it } from 'vitest'
import type { Cluster } from '../../../lib/wire/system.ts'
import { createFleetContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const ctx = await createFleetContext(database)
afterAll(() => ctx.close())

describe('GET /api/system/cluster', () => {
  it('says where each agent is, so that none is accounted nowhere', async () => {
    const { token } = await signIn(ctx)
    const agents = ['a', 'b', 'c'].map((service) => fakeAgent(ctx.fleet, { service }))
    await ctx.advance(300)
    agents[0]!.lose()
    const answer = await invoke(ctx, 'GET /api/system/cluster', { as: token })
    expect((answer.json as Cluster).agents).toEqual({ websocket: 2, polling: 0, awaited: 1 })
  })
})
