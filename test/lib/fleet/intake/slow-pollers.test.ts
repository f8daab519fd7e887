import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NO_RHYTHM, storedRhythm } from '../../../../lib/fleet/decide/poll-rhythm.ts'
import { RHYTHMS_MAX } from '../../../../lib/fleet/state/agent-limits.ts'
import { configHash } from '../../../../lib/model/config-hash.ts'
import { listTargets } from '../../../../lib/store/push-targets.ts'
import { findPush } from '../../../../lib/store/pushes.ts'
import {
  createFleetContext,
  type FakeAgent,
  type FakeAgentOptions,
  type FleetTestContext,
  fakeAgent,
} from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'

const database = await useTestDatabase()
const TEN_MINUTES = 600_000

let ctx: FleetTestContext
let tests = 0
beforeEach(async () => {
  tests++
  ctx = await createFleetContext(database)
})
afterEach(() => ctx.close())

const join = (options: FakeAgentOptions = {}): FakeAgent =>
  fakeAgent(ctx.fleet, { host: `slow-${tests}`, transport: 'http', ...options })

async function restart(): Promise<void> {
  await ctx.close()
  ctx = await createFleetContext(database)
}

/** Poll `count` times, `intervalMs` apart; returns how often the workload was disconnected in between. */
async function poll(agent: FakeAgent, intervalMs: number, count: number): Promise<number> {
  let disconnects = 0
  for (let polls = 0; polls < count; polls++) {
    await ctx.advance(intervalMs)
    if (ctx.fleet.workload(agent.workloadId)!.status === 'disconnected') disconnects++
    agent.say({})
  }
  return disconnects
}

const eventsOf = async (agent: FakeAgent) => {
  await ctx.fleet.writer.flush()
  const rows = await database.pool.query<{ event_type: string }>(
    'select event_type from workload_events where instance_uid = $1 order by id',
    [agent.uid],
  )
  return rows.map(({ event_type: type }) => type)
}

/** Let our process stand still for so long, in which it hears nobody. */
async function standStill(ms: number): Promise<void> {
  ctx.timers.standStill(ms)
  await ctx.advance(3_000)
}

describe('while our process stands still', () => {
  it('no poller falls silent: it is not heard', async () => {
    const agent = join()
    await poll(agent, 30_000, 3)
    await standStill(200_000)
    // Its poll found nobody, and the next one comes after its interval.
    await ctx.advance(27_000)
    agent.say({})
    expect(await eventsOf(agent)).toEqual(['connected'])
    await ctx.advance(95_000)
    expect(await eventsOf(agent)).toEqual(['connected', 'disconnected'])
  })

  it('the grace of one that is away does not end: it finds nobody to come back to', async () => {
    const agent = join({ transport: 'ws' })
    const graceMs = 120_000
    await ctx.advance(5_000)
    agent.lose()
    await ctx.advance(1_000)
    await standStill(10 * graceMs)
    await ctx.advance(graceMs - 10_000)
    expect(ctx.fleet.workload(agent.workloadId)!.status).not.toBe('disconnected')
    expect(ctx.fleet.state.instances.has(agent.uid)).toBe(true)
    await ctx.advance(15_000)
    expect(ctx.fleet.workload(agent.workloadId)!.status).toBe('disconnected')
    expect(ctx.fleet.state.instances.has(agent.uid)).toBe(false)
  })
})

describe('an agent that polls each ten minutes', () => {
  it('is away once, before anybody can know, and connected from then on', async () => {
    const agent = join()
    expect(await poll(agent, TEN_MINUTES, 8)).toBe(1)
    expect(await eventsOf(agent)).toEqual(['connected', 'disconnected', 'connected'])
  })

  it('keeps its rhythm across an absence in which it was forgotten', async () => {
    const agent = join()
    await poll(agent, TEN_MINUTES, 4)
    await ctx.advance(3_600_000)
    expect(ctx.fleet.workload(agent.workloadId)!.status).toBe('disconnected')
    expect(ctx.fleet.state.instances.has(agent.uid)).toBe(false)
    agent.say({})
    expect(await poll(agent, TEN_MINUTES, 4)).toBe(0)
  })

  it('keeps it across our restart: its workload is not disconnected before it had the time to poll', async () => {
    const agent = join()
    await poll(agent, TEN_MINUTES, 3)
    const before = await eventsOf(agent)
    await restart()
    await ctx.advance(500_000)
    expect(ctx.fleet.workload(agent.workloadId)!.status).toBe('connected')
    const back = join({ uid: agent.uid })
    expect(await poll(back, TEN_MINUTES, 3)).toBe(0)
    expect(await eventsOf(agent)).toEqual(before)
  })

  it('is waited for by a push until it polls', async () => {
    const agent = join()
    await poll(agent, TEN_MINUTES, 3)
    const push = await pushConfig(ctx.fleet, agent.workloadId, configYaml())
    await ctx.advance(TEN_MINUTES - 1_000)
    expect(push).toMatchObject({ phase: 'submitted', counts: { straggler: 0 } })
    agent.say({})
    await ctx.advance(1_000)
    expect(agent.offered()).toEqual([configHash(configYaml())])
    agent.apply()
    expect(push.status).toBe('applied')
  })

  it('that died while we were away speaks for a push until its own time is over, and no longer', async () => {
    const agent = join()
    await poll(agent, TEN_MINUTES, 3)
    const other = fakeAgent(ctx.fleet, { host: `slow-${tests}` })
    const { pushId, hash } = await pushConfig(ctx.fleet, agent.workloadId, configYaml())
    await ctx.advance(1_000)
    other.apply()
    await poll(agent, TEN_MINUTES, 1)
    agent.apply()
    await ctx.advance(1_000)
    await restart()
    const back = fakeAgent(ctx.fleet, { uid: other.uid, host: `slow-${tests}` })
    back.fail('exit code 1', hash)
    const status = async () => (await findPush(database.pool, pushId))?.status
    // The instance that is connected has failed the config; the other one may still come and run it.
    await ctx.advance(1_700_000)
    expect(await status()).toBe('applied')
    await ctx.advance(300_000)
    expect(await status()).toBe('failed')
  })

  it('is waited for by a push across our restart', async () => {
    const agent = join()
    await poll(agent, TEN_MINUTES, 3)
    const { pushId, hash } = await pushConfig(ctx.fleet, agent.workloadId, configYaml())
    await ctx.advance(1_000)
    await restart()
    await ctx.advance(500_000)
    const [waiting] = await listTargets(database.pool, [pushId])
    expect(waiting?.target.state).toBe('offered')
    const back = join({ uid: agent.uid })
    // It is asked for its full state, and sends it.
    back.describe()
    await ctx.advance(1_000)
    back.say({})
    expect(back.offered()).toEqual([hash])
  })

  it('that died while we were away is disconnected in the end', async () => {
    const agent = join()
    await poll(agent, TEN_MINUTES, 3)
    await restart()
    await ctx.advance(1_700_000)
    expect(ctx.fleet.workload(agent.workloadId)!.status).toBe('connected')
    await ctx.advance(300_000)
    expect(ctx.fleet.workload(agent.workloadId)!.status).toBe('disconnected')
  })
})

it('so many rhythms are remembered, the one of the poller that left longest ago goes', () => {
  const { state } = ctx.fleet
  for (let n = 0; n <= RHYTHMS_MAX; n++) state.keepRhythm(`poller ${n}`, storedRhythm(TEN_MINUTES))
  expect(state.rhythms.size).toBe(RHYTHMS_MAX)
  expect(state.takeRhythm('poller 0')).toBe(NO_RHYTHM)
  expect(state.takeRhythm('poller 1').intervalMs).toBe(TEN_MINUTES)
  expect(state.rhythms.size).toBe(RHYTHMS_MAX - 1)
})

it('an agent that polls each half a minute is away soon after it stopped, whatever it did before', async () => {
  const agent = join()
  await poll(agent, 30_000, 10)
  await ctx.advance(3_600_000)
  agent.say({})
  await ctx.advance(211_000)
  expect(ctx.fleet.workload(agent.workloadId)!.status).toBe('disconnected')
})
