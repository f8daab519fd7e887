import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { FleetActivity } from '../../../lib/wire/events.ts'
import { ACTIVITY_WORKLOADS_MAX } from '../../../lib/wire/values.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let viewer: string

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database)
  viewer = (await signIn(ctx, { groups: ['viewer'] })).token
})
afterAll(() => ctx.close())

const ask = (query: string) => invoke(ctx, `GET /api/fleet/activity${query}`, { as: viewer })
const HOUR_MS = 3_600_000

describe('GET /api/fleet/activity', () => {
  it('tells how much happened to each workload in each hour, in the order of the question', async () => {
    const calm = fakeAgent(ctx.fleet, { service: 'calm' })
    const restless = fakeAgent(ctx.fleet, { service: 'restless' })
    await ctx.advance(300)
    await ctx.advance(2 * HOUR_MS)
    restless.lose()
    await ctx.advance(300)
    const answer = await ask(`?ids=${restless.workloadId},nobody,${calm.workloadId}`)
    expect(answer.status).toBe(200)
    const { workloads, ...about } = answer.json as FleetActivity
    expect(about).toMatchObject({ window: '24h', bucket_seconds: 3_600 })
    expect(workloads.map(({ workload_id }) => workload_id)).toEqual([restless.workloadId, calm.workloadId])
    const [first, second] = workloads.map(({ events }) => events)
    expect([first!.length, second!.length]).toEqual([24, 24])
    expect(first!.slice(-3)).toEqual([1, 0, 1])
    expect(second!.slice(-3)).toEqual([1, 0, 0])
  })

  it('has no answer for nobody, and refuses another window and too many workloads', async () => {
    expect((await ask('')).json).toMatchObject({ workloads: [] })
    expect(await ask('?window=2h')).toMatchObject({ status: 400 })
    const ids = Array.from({ length: ACTIVITY_WORKLOADS_MAX + 1 }, (_, n) => `w${n}`)
    expect(await ask(`?ids=${ids.join(',')}`)).toMatchObject({
      status: 400,
      json: { code: 'activity_too_many', error: 'ids names more than 100 workloads' },
    })
    expect((await ask(`?ids=${ids.slice(1).join(',')}`)).status).toBe(200)
  })
})
