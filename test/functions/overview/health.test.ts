import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import keepHealth from '../../../functions/overview/keep-health.ts'
import type { FleetHealth } from '../../../lib/wire/fleet-health.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let viewer: string

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  await database.pool.execute('delete from fleet_health')
  ctx = await createFleetContext(database)
  viewer = (await signIn(ctx, { groups: ['viewer'] })).token
})
afterAll(() => ctx.close())

const MINUTE_MS = 60_000
const count = () => keepHealth.run(ctx, new AbortController().signal)
const health = async (query = '') => {
  const answer = await invoke(ctx, `GET /api/fleet/health${query}`, { as: viewer })
  expect(answer.status).toBe(200)
  return answer.json as FleetHealth
}
const shares = ({ buckets }: FleetHealth) =>
  buckets.map(({ connected, degraded, disconnected }) => [connected, degraded, disconnected])
const leaving = ({ buckets }: FleetHealth) => buckets.map((bucket) => bucket.leaving)
const SICK = {
  healthy: false,
  status: 'StatusPermanentError',
  lastError: '',
  startTimeMs: 1,
  statusTimeMs: 1,
  children: new Map(),
}

describe('GET /api/fleet/health', () => {
  it('tells how the fleet was, the worst of each stretch, and leaves out what nobody counted', async () => {
    expect(shares(await health())).toEqual([])
    const agent = fakeAgent(ctx.fleet, { service: 'a' })
    fakeAgent(ctx.fleet, { service: 'b' })
    await ctx.advance(300)
    await count()
    agent.say({ health: SICK })
    await ctx.advance(5 * MINUTE_MS)
    await count()
    agent.say({ health: { ...SICK, healthy: true, status: 'StatusOK' } })
    await ctx.advance(5 * MINUTE_MS)
    await count()
    expect(shares(await health('?window=1h'))).toEqual([
      [2, 0, 0],
      [1, 1, 0],
      [2, 0, 0],
    ])
    // Its one instance was all that it had.
    const { buckets } = await health('?window=1h')
    expect(buckets.map(({ all_unhealthy }) => all_unhealthy)).toEqual([0, 1, 0])
    // Of half an hour the worst five minutes stand for all.
    const day = await health()
    expect(shares(day)).toEqual([[1, 1, 0]])
    expect(day).toMatchObject({ window: '24h', bucket_seconds: 1_800 })
    // An hour without the service is a gap, and not an hour without workloads.
    await ctx.advance(60 * MINUTE_MS)
    await count()
    const [first, second] = (await health('?window=6h')).buckets.slice(-2)
    expect(Date.parse(second!.start) - Date.parse(first!.start)).toBe(60 * MINUTE_MS)
  })

  it('counts a workload whose last instance just left as leaving, and not as connected', async () => {
    const agent = fakeAgent(ctx.fleet, { service: 'a' })
    fakeAgent(ctx.fleet, { service: 'b' })
    await ctx.advance(300)
    agent.lose()
    await ctx.advance(1_000)
    await count()
    expect(shares(await health())).toEqual([[1, 0, 0]])
    expect(leaving(await health())).toEqual([1])
    await ctx.advance(5 * MINUTE_MS)
    await count()
    expect(shares(await health('?window=1h')).at(-1)).toEqual([1, 0, 1])
    expect(leaving(await health('?window=1h')).at(-1)).toBe(0)
  })

  it('shows of the stretch that runs how the fleet is now, and keeps the worst of it', async () => {
    const agent = fakeAgent(ctx.fleet, { service: 'a' })
    fakeAgent(ctx.fleet, { service: 'b' })
    await ctx.advance(300)
    await count()
    // Both within one stretch, which was counted already.
    agent.say({ health: SICK })
    await ctx.advance(2 * MINUTE_MS)
    expect(shares(await health('?window=1h'))).toEqual([[1, 1, 0]])
    await count()
    agent.say({ health: { ...SICK, healthy: true, status: 'StatusOK' } })
    await ctx.advance(MINUTE_MS)
    await count()
    expect(shares(await health('?window=1h'))).toEqual([[1, 1, 0]])
    expect(shares(await health('?window=7d'))).toEqual([[1, 1, 0]])
    await ctx.advance(5 * MINUTE_MS)
    // Nobody has counted the new stretch yet.
    expect(shares(await health('?window=1h'))).toEqual([
      [1, 1, 0],
      [2, 0, 0],
    ])
  })

  it('knows four windows', async () => {
    for (const window of ['1h', '6h', '24h', '7d'])
      expect((await health(`?window=${window}`)).window).toBe(window)
    expect((await invoke(ctx, 'GET /api/fleet/health?window=1y', { as: viewer })).status).toBe(400)
  })

  it('keeps one count of each five minutes, for a week, and none of an empty fleet', async () => {
    const kept = async () =>
      (await database.pool.query<{ at: Date }>('select at from fleet_health order by at')).map(({ at }) => at)
    await count()
    expect(await kept()).toEqual([])
    fakeAgent(ctx.fleet, { service: 'a' })
    await ctx.advance(300)
    await count()
    await count()
    const [first] = await kept()
    expect(await kept()).toHaveLength(1)
    expect(first!.getTime() % (5 * MINUTE_MS)).toBe(0)
    await database.pool.execute(`update fleet_health set at = at - interval '8 days'`)
    await count()
    expect(await kept()).toEqual([first])
  })
})
