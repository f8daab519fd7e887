import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventStats, WorkloadEventRecord } from '../../../lib/wire/events.ts'
import type { FleetSummary } from '../../../lib/wire/fleet-summary.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// Who asks what changed when it went down must be told when it went down: neither when that was noticed nor when an
// alert followed, and the same wherever it is told.

const database = await useTestDatabase()
const MINUTE_MS = 60_000
let ctx: FleetTestContext
let token: string
beforeEach(async () => {
  ctx = await createFleetContext(database)
  token = (await signIn(ctx)).token
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const recordOf = async (id: string) =>
  (await invoke(ctx, `GET /api/workloads/${id}`, { as: token })).json as WorkloadRecord
const summary = async () => (await invoke(ctx, 'GET /api/fleet/summary', { as: token })).json as FleetSummary
const lastEventOf = async (id: string) =>
  ((await invoke(ctx, `GET /api/workloads/${id}/events`, { as: token })).json as WorkloadEventRecord[])[0]

describe('since when a workload has no instance', () => {
  it('is when its connection ended, also once it counts as disconnected', async () => {
    const agent = fakeAgent(ctx.fleet)
    const id = agent.workloadId
    await ctx.advance(10 * MINUTE_MS)
    const lostAt = ctx.clock.now().toISOString()
    agent.lose()
    await ctx.advance(1_000)
    expect(await recordOf(id)).toMatchObject({
      last_seen_at: lostAt,
      trouble: { kind: 'leaving', since: lostAt },
    })
    await ctx.advance(5 * MINUTE_MS)
    expect(await recordOf(id)).toMatchObject({
      last_seen_at: lostAt,
      trouble: { kind: 'disconnected', since: lostAt },
    })
    expect(await lastEventOf(id)).toMatchObject({ event_type: 'disconnected', occurred_at: lostAt })
  })

  it('is when a poller that fell silent was last heard of', async () => {
    const agent = fakeAgent(ctx.fleet, { transport: 'http' })
    const id = agent.workloadId
    await ctx.advance(20_000)
    agent.say({})
    const lostAt = ctx.clock.now().toISOString()
    await ctx.advance(100_000)
    expect(await recordOf(id)).toMatchObject({ trouble: { kind: 'leaving', since: lostAt } })
    await ctx.advance(5 * MINUTE_MS)
    expect(await recordOf(id)).toMatchObject({ trouble: { kind: 'disconnected', since: lostAt } })
    expect(await lastEventOf(id)).toMatchObject({ event_type: 'disconnected', occurred_at: lostAt })
  })

  it('is not said while agents are awaited that were there before the service started', async () => {
    const agent = fakeAgent(ctx.fleet)
    await ctx.advance(MINUTE_MS)
    await ctx.close()
    ctx = await createFleetContext(database, { clock: ctx.clock })
    token = (await signIn(ctx)).token
    const { trouble } = await recordOf(agent.workloadId)
    expect(trouble).toEqual({ kind: 'leaving' })
    await ctx.advance(5 * MINUTE_MS)
    expect((await recordOf(agent.workloadId)).trouble).toMatchObject({
      kind: 'disconnected',
      since: expect.any(String),
    })
  })
})

it('is drawn in the stretch in which it was', async () => {
  const agent = fakeAgent(ctx.fleet)
  await ctx.advance(7 * MINUTE_MS)
  const hour = 60 * MINUTE_MS
  await ctx.advance(hour - (ctx.clock.now().getTime() % hour) + 10_000)
  agent.lose()
  const lostAt = ctx.clock.now().getTime()
  await ctx.advance(MINUTE_MS)
  const stats = (await invoke(ctx, `GET /api/workloads/${agent.workloadId}/events/stats`, { as: token }))
    .json as EventStats
  const bar = stats.buckets.find(({ disconnected: count }) => count > 0)
  expect(Date.parse(bar?.start ?? '')).toBe(lostAt - 10_000)
})

describe('many that lose their last instance at once', () => {
  it('are one thing, named first, before anybody is alerted', async () => {
    const agents = Array.from({ length: 12 }, (_, at) =>
      fakeAgent(ctx.fleet, { service: 'edge', host: `vm-${at}` }),
    )
    const alone = ['a', 'b', 'c'].map((host) => fakeAgent(ctx.fleet, { service: 'alone', host }))
    await ctx.advance(1_000)
    for (const agent of alone) agent.lose()
    await ctx.advance(20 * MINUTE_MS)
    const lostAt = ctx.clock.now().toISOString()
    for (const agent of agents) agent.lose()
    await ctx.advance(1_000)
    const { worst, troubled_count: count } = await summary()
    expect(count).toBe(15)
    expect(worst.map(({ display_name: name }) => name)).toEqual(['edge', 'alone', 'alone'])
    expect(worst[0]).toMatchObject({ trouble: { kind: 'leaving' }, outage: { count: 12, since: lostAt } })
    await ctx.advance(5 * MINUTE_MS)
    expect((await summary()).worst[0]).toMatchObject({
      trouble: { kind: 'disconnected', since: lostAt },
      outage: { count: 12, since: lostAt },
    })
  })

  it('are not told as one while all agents are awaited after a start of the service', async () => {
    for (let at = 0; at < 12; at++) fakeAgent(ctx.fleet, { service: 'edge', host: `vm-${at}` })
    await ctx.advance(MINUTE_MS)
    await ctx.close()
    ctx = await createFleetContext(database, { clock: ctx.clock })
    token = (await signIn(ctx)).token
    await ctx.advance(1_000)
    expect((await summary()).worst.filter(({ outage }) => outage !== undefined)).toEqual([])
  })
})
