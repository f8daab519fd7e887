import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { WorkloadRecord } from '../../../../lib/wire/workloads.ts'
import { HEALTHY } from '../../../support/agent-report.ts'
import { SICK } from '../../../support/campaign-scene.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { invoke, signIn } from '../../../support/invoke.ts'
import { useTestDatabase } from '../../../support/postgres.ts'

// A trouble began when it began, whichever process says so: who is on call must not take an old one for a new one.

const database = await useTestDatabase()
const MINUTE_MS = 60_000
let ctx: FleetTestContext
beforeEach(async () => {
  ctx = await createFleetContext(database)
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

/** The service stops, and starts again later. */
async function restart(awayMs = 0): Promise<void> {
  await ctx.close()
  ctx.clock.advance(awayMs)
  ctx = await createFleetContext(database, { clock: ctx.clock })
}

async function troubleOf(id: string): Promise<WorkloadRecord['trouble']> {
  const { token } = await signIn(ctx)
  return ((await invoke(ctx, `GET /api/workloads/${id}`, { as: token })).json as WorkloadRecord).trouble
}

const open = (pod: string, more: object = { health: SICK }, uid?: string) =>
  fakeAgent(ctx.fleet, { host: 'vm', pod, more, ...(uid === undefined ? {} : { uid }) })

const stored = async () =>
  (
    await database.pool.query<{ since: Date | null }>(
      `select unhealthy_since as since from agent_workloads order by instance_uid`,
    )
  ).map(({ since }) => since)

describe('an outage that goes on across a restart of the service', () => {
  it('began when it began', async () => {
    const before = open('a')
    const beganAt = ctx.clock.now().toISOString()
    await ctx.advance(10 * MINUTE_MS)
    expect(await troubleOf(before.workloadId)).toMatchObject({ kind: 'unhealthy', since: beganAt })
    await restart(MINUTE_MS)
    open('a', { health: SICK }, before.uid)
    await ctx.advance(2 * MINUTE_MS)
    expect(await troubleOf(before.workloadId)).toMatchObject({ kind: 'unhealthy', since: beganAt })
  })

  it('is that of the instances that have it still: one that was ill for longer and is well counts no more', async () => {
    const [first, second] = [open('a'), open('b', { health: HEALTHY })]
    await ctx.advance(5 * MINUTE_MS)
    second.say({ health: SICK })
    const beganAt = ctx.clock.now().toISOString()
    await ctx.advance(5 * MINUTE_MS)
    await restart()
    open('a', { health: HEALTHY }, first.uid)
    open('b', { health: SICK }, second.uid)
    await ctx.advance(2 * MINUTE_MS)
    expect(await troubleOf(first.workloadId)).toMatchObject({ kind: 'unhealthy', since: beganAt, count: 1 })
  })

  it('is a new one where the instance was well between', async () => {
    const agent = open('a')
    await ctx.advance(5 * MINUTE_MS)
    agent.say({ health: HEALTHY })
    await ctx.advance(MINUTE_MS)
    agent.say({ health: SICK })
    const beganAt = ctx.clock.now().toISOString()
    await ctx.advance(MINUTE_MS)
    await restart()
    open('a', { health: SICK }, agent.uid)
    await ctx.advance(2 * MINUTE_MS)
    expect(await troubleOf(agent.workloadId)).toMatchObject({ since: beganAt })
  })

  it('is a new one where the instance stayed away for longer than the grace', async () => {
    const agent = open('a')
    await ctx.advance(5 * MINUTE_MS)
    await restart()
    await ctx.advance(10 * MINUTE_MS)
    expect(await stored()).toEqual([null])
    open('a', { health: SICK }, agent.uid)
    const beganAt = ctx.clock.now().toISOString()
    await ctx.advance(MINUTE_MS)
    expect(await troubleOf(agent.workloadId)).toMatchObject({ kind: 'unhealthy', since: beganAt })
  })
})

describe('what is stored of it', () => {
  it('is nothing of a start, which every agent has', async () => {
    const agent = open('a', { health: { ...SICK, status: 'StatusStarting' } })
    await ctx.advance(MINUTE_MS / 2)
    expect(await stored()).toEqual([null])
    agent.say({ health: HEALTHY })
    await ctx.advance(5 * MINUTE_MS)
    expect(await stored()).toEqual([null])
  })

  it('is written once, however often the agent says that it is ill, and taken back once it is well', async () => {
    const agent = open('a')
    const beganAt = ctx.clock.now()
    await ctx.advance(MINUTE_MS)
    const rowVersion = async () =>
      (await database.pool.query<{ xmin: string }>(`select xmin::text from agent_workloads`))[0]!.xmin
    expect(await stored()).toEqual([beganAt])
    const version = await rowVersion()
    for (let beats = 0; beats < 5; beats++) {
      agent.say({ health: SICK })
      await ctx.advance(MINUTE_MS)
    }
    expect(await rowVersion()).toBe(version)
    agent.say({ health: HEALTHY })
    await ctx.advance(MINUTE_MS)
    expect(await stored()).toEqual([null])
  })

  it('is taken back of one that is gone', async () => {
    open('a').goodbye()
    const other = open('b')
    await ctx.advance(MINUTE_MS)
    expect((await stored()).filter((since) => since !== null)).toHaveLength(1)
    other.lose()
    await ctx.advance(10 * MINUTE_MS)
    expect(await stored()).toEqual([null, null])
  })

  it('is there again once its workload was deleted and came back', async () => {
    const agent = open('a')
    const beganAt = ctx.clock.now()
    await ctx.advance(MINUTE_MS)
    const { token } = await signIn(ctx)
    expect(await invoke(ctx, `DELETE /api/workloads/${agent.workloadId}`, { as: token })).toMatchObject({
      status: 204,
    })
    agent.describe()
    await ctx.advance(MINUTE_MS)
    expect(await stored()).toEqual([beganAt])
  })
})
