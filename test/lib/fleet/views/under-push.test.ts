import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import engine from '../../../../functions/alerts/engine.ts'
import type { ChangeRecord } from '../../../../lib/wire/change-feed.ts'
import type { WorkloadRecord } from '../../../../lib/wire/workloads.ts'
import { HEALTHY } from '../../../support/agent-report.ts'
import { SICK } from '../../../support/campaign-scene.ts'
import {
  createFleetContext,
  type FakeAgent,
  type FleetTestContext,
  fakeAgent,
} from '../../../support/fleet.ts'
import { invoke, signIn } from '../../../support/invoke.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'

// Who is on call rolls back what is said to have broken it: that is said only where it really began under that push.

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

const open = (pod: string, health: object = HEALTHY) =>
  fakeAgent(ctx.fleet, { host: 'vm', pod, more: { health } as never })

const get = async (path: string) => {
  const { token } = await signIn(ctx)
  return (await invoke(ctx, `GET ${path}`, { as: token })).json
}
const troubleOf = async ({ workloadId }: FakeAgent) =>
  ((await get(`/api/workloads/${workloadId}`)) as WorkloadRecord).trouble

/** Two instances of a workload, of which some are ill, and a push that both apply. */
async function pushed(health: object = HEALTHY): Promise<[FakeAgent, FakeAgent, { pushId: string }]> {
  const agents = [open('a', health), open('b')] as const
  await ctx.advance(2 * MINUTE_MS)
  await pushConfig(ctx.fleet, agents[0].workloadId, configYaml(1))
  const pushId = ctx.fleet.workload(agents[0].workloadId)!.newestPush!.pushId
  for (const agent of agents) agent.apply()
  await ctx.advance(1_000)
  return [...agents, { pushId }]
}

/** The service stops and another process takes over; the agents come back to it and say what they run. */
async function restart(agents: readonly FakeAgent[], health: object): Promise<FakeAgent[]> {
  const hash = agents[0]!.offered().at(-1)!
  await ctx.close()
  ctx = await createFleetContext(database, { clock: ctx.clock })
  const back = agents.map(({ uid }, at) =>
    fakeAgent(ctx.fleet, {
      host: 'vm',
      pod: at === 0 ? 'a' : 'b',
      uid,
      more: { health, remoteConfigStatus: { status: 'applied', hash, errorMessage: '' } } as never,
    }),
  )
  await ctx.advance(2 * MINUTE_MS)
  return back
}

const sicken = async (...agents: FakeAgent[]) => {
  for (const agent of agents) agent.say({ health: SICK })
  await ctx.advance(2 * MINUTE_MS)
}

describe('what broke after a push', () => {
  it('is unhealthy since that push, in the record of its workload and in the feed of changes', async () => {
    const [first, second, { pushId }] = await pushed()
    const [change] = (await get('/api/changes')) as ChangeRecord[]
    expect(change).not.toHaveProperty('unhealthy_since')
    await sicken(first, second)
    const trouble = { kind: 'unhealthy', count: 2, total: 2, under_push: { push_id: pushId } }
    expect(await troubleOf(first)).toMatchObject(trouble)
    expect(await get('/api/changes')).toMatchObject([{ id: pushId, unhealthy_since: trouble }])
    await engine.run(ctx, new AbortController().signal)
    expect((await get('/api/alerts')) as object[]).toMatchObject([
      {
        rule: 'workload_unhealthy',
        message: expect.stringMatching(/2 of 2|2 live instances.*, since config [0-9a-f]{12} was pushed by /),
        details: { since_push_id: pushId },
      },
    ])
    // And not any more once it is well.
    for (const agent of [first, second]) agent.say({ health: HEALTHY })
    await ctx.advance(1_000)
    expect((await get('/api/changes')) as ChangeRecord[]).not.toMatchObject([{ unhealthy_since: trouble }])
  })

  it('is not said to be of a push that came to one which was unhealthy before', async () => {
    const [first, second] = await pushed(SICK)
    first.say({ health: HEALTHY })
    await ctx.advance(1_000)
    await sicken(first, second)
    expect(await troubleOf(first)).toMatchObject({ kind: 'unhealthy', count: 2 })
    expect(await troubleOf(first)).not.toHaveProperty('under_push')
  })

  it('nor where it began long after the push', async () => {
    const [first] = await pushed()
    await ctx.advance(15 * MINUTE_MS)
    await sicken(first)
    expect(await troubleOf(first)).toMatchObject({ count: 1, total: 2 })
    expect(await troubleOf(first)).not.toHaveProperty('under_push')
  })

  it('but stays said of those of which it holds, where another fell ill long after it', async () => {
    const [first, second, { pushId }] = await pushed()
    await sicken(first)
    expect(await troubleOf(first)).toMatchObject({ count: 1, total: 2, under_push: { instance_count: 1 } })
    await ctx.advance(15 * MINUTE_MS)
    await sicken(second)
    const under_push = { push_id: pushId, instance_count: 1 }
    expect(await troubleOf(first)).toMatchObject({ count: 2, total: 2, under_push })
    await engine.run(ctx, new AbortController().signal)
    const message = /2 of 2 live instances.*, 1 of them since config [0-9a-f]{12} was pushed by /
    const [alert] = (await get('/api/alerts')) as object[]
    expect(alert).toMatchObject({
      message: expect.stringMatching(message),
      details: { unhealthy: 2, since_push_id: pushId, since_count: 1 },
    })
  })

  it('nor dropped for the others because one was well for a moment', async () => {
    const [first, second, { pushId }] = await pushed()
    await sicken(first, second)
    await ctx.advance(15 * MINUTE_MS)
    second.say({ health: HEALTHY })
    await ctx.advance(1_000)
    await sicken(second)
    expect(await troubleOf(first)).toMatchObject({
      count: 2,
      under_push: { push_id: pushId, instance_count: 1 },
    })
    expect(await get('/api/changes')).toMatchObject([{ id: pushId, unhealthy_since: { count: 2 } }])
  })

  it('nor of an instance that joined since', async () => {
    const [first] = await pushed()
    const joiner = open('c')
    await ctx.advance(1_000)
    joiner.apply()
    await ctx.advance(1_000)
    await sicken(joiner)
    expect(await troubleOf(first)).toMatchObject({ count: 1, total: 3 })
    expect(await troubleOf(first)).not.toHaveProperty('under_push')
  })

  it('nor of the next push, which found it so', async () => {
    const [first, second] = await pushed()
    await sicken(first, second)
    await pushConfig(ctx.fleet, first.workloadId, configYaml(2))
    for (const agent of [first, second]) agent.apply()
    await ctx.advance(2 * MINUTE_MS)
    expect(await troubleOf(first)).toMatchObject({ kind: 'unhealthy', count: 2 })
    expect(await troubleOf(first)).not.toHaveProperty('under_push')
  })
})

describe('after another process has taken over', () => {
  it('it is still said to be unhealthy since that push', async () => {
    const [first, second, { pushId }] = await pushed()
    await sicken(first, second)
    await restart([first, second], SICK)
    const trouble = {
      kind: 'unhealthy',
      count: 2,
      total: 2,
      under_push: { push_id: pushId, instance_count: 2 },
    }
    expect(await troubleOf(first)).toMatchObject(trouble)
    expect(await get('/api/changes')).toMatchObject([{ id: pushId, unhealthy_since: trouble }])
  })

  it('and where it broke after that, soon after the push', async () => {
    const [first, second, { pushId }] = await pushed()
    const back = await restart([first, second], HEALTHY)
    await sicken(...back)
    expect(await troubleOf(first)).toMatchObject({ count: 2, under_push: { push_id: pushId } })
  })

  it('but not of a push that came to one which was unhealthy before', async () => {
    const [first, second] = await pushed(SICK)
    const [back] = await restart([first, second], HEALTHY)
    await sicken(back!)
    expect(await troubleOf(first)).toMatchObject({ kind: 'unhealthy', count: 1 })
    expect(await troubleOf(first)).not.toHaveProperty('under_push')
  })
})
