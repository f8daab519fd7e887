import { afterEach, beforeEach, expect, it } from 'vitest'
import { HEALTHY } from '../../../support/agent-report.ts'
import { createFleetContext, type FleetTestContext } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { config, PushedWorkload } from '../../../support/pushed-workload.ts'

// A workload whose instances come and go all the time.

const database = await useTestDatabase()
let ctx: FleetTestContext
let workload: PushedWorkload
beforeEach(async () => {
  ctx = await createFleetContext(database)
  workload = new PushedWorkload(ctx, 'ab')
  await ctx.advance(500)
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

/**
 * Let an instance join every ten seconds and apply its offer ten seconds later, so that there is always one that has
 * not yet.
 */
async function churn(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const before = workload.agents.at(-1)!
    workload.join(`n${round}`)
    await ctx.advance(10_000)
    before.apply()
  }
}

it('a push has been applied once those it was made for have', async () => {
  await workload.settle(1)
  const push = await workload.push(2)
  await churn(3)
  workload.agents[0]!.apply()
  expect((await workload.stored(push)).status).toBe('pending')
  workload.agents[1]!.apply()
  await churn(3)
  expect((await workload.stored(push)).status).toBe('applied')
  // Instances that have joined since are still followed.
  await ctx.advance(1_000)
  expect((await workload.stored(push)).counts).toMatchObject({ joined: 6 })
})

it('a push that nobody has applied is decided by those who join', async () => {
  const push = await workload.push(2)
  for (const agent of workload.agents) agent.goodbye()
  await ctx.advance(1_000)
  expect((await workload.stored(push)).phase).toBe('no_status')
  workload.join('c')
  await ctx.advance(1_000)
  workload.agents[2]!.apply()
  await ctx.advance(1_000)
  expect(await workload.stored(push)).toMatchObject({ status: 'applied', counts: { target: 3, applied: 1 } })
})

it('a rollout comes to its end while others join its last stage', async () => {
  await workload.settle(1)
  await workload.stage(2, [
    { count: 1, dwellMs: 0, gates: [] },
    { percentage: 100, dwellMs: 30_000, gates: [] },
  ])
  workload.agents[0]!.apply()
  await ctx.advance(5_000)
  workload.agents[1]!.apply()
  await churn(6)
  expect(workload.live).toMatchObject({ activeHash: config(2).hash, rollout: null })
})

it('who joins, leaves without an answer and is forgotten leaves no row behind', async () => {
  const push = await workload.settle(1)
  for (const pod of 'cdef') {
    const agent = workload.join(pod)
    await ctx.advance(1_000)
    agent.goodbye()
  }
  expect(Object.keys(await workload.ends(push))).toHaveLength(6)
  await ctx.advance(130_000)
  expect(Object.keys(await workload.ends(push))).toEqual(['a', 'b'])
  expect(workload.live.active!.targets.size).toBe(2)
  expect((await workload.stored(push)).counts.joined).toBe(0)
})

it('nor where nobody answers the push, and it stays open for that', async () => {
  const push = await workload.push(1)
  for (const pod of 'cdef') {
    const agent = workload.join(pod)
    await ctx.advance(1_000)
    agent.goodbye()
  }
  expect((await workload.stored(push)).counts).toMatchObject({ target: 6, joined: 4 })
  await ctx.advance(130_000)
  expect(Object.keys(await workload.ends(push))).toEqual(['a', 'b'])
  expect(workload.live.active!.targets.size).toBe(2)
  expect(await workload.stored(push)).toMatchObject({
    status: 'pending',
    counts: { target: 2, joined: 0, gone: 0 },
  })
})

it('nor where a rollout halted in its last stage, also of those that applied the config', async () => {
  await workload.settle(1)
  await workload.stage(2, [{ percentage: 100, dwellMs: 0, gates: ['health'] }])
  const [a, b] = workload.agents
  for (const agent of [a!, b!]) agent.apply()
  a!.say({ health: { ...HEALTHY, healthy: false, status: 'StatusPermanentError' } })
  await ctx.advance(5_000)
  const { stored, followed } = workload.live.rollout!
  expect(stored.status).toBe('halted')
  for (const pod of 'cdef') {
    const agent = workload.join(pod)
    await ctx.advance(1_000)
    if ('cd'.includes(pod)) agent.apply()
    await ctx.advance(1_000)
    agent.goodbye()
  }
  expect(followed.push.counts).toMatchObject({ target: 6, applied: 4 })
  await ctx.advance(130_000)
  expect(Object.keys(await workload.ends(stored.pushId))).toEqual(['a', 'b'])
  expect(followed.push.counts).toMatchObject({ target: 2, applied: 2, joined: 0 })
})
