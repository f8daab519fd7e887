import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLog } from '../../../../lib/log.ts'
import { configHash } from '../../../../lib/model/config-hash.ts'
import { createOpampExchange } from '../../../../lib/opamp/exchange.ts'
import { AGENT_CAPABILITIES } from '../../../../lib/opamp/report.ts'
import {
  createFleetContext,
  type FakeAgent,
  type FleetTestContext,
  fakeAgent,
} from '../../../support/fleet.ts'
import { agentBody, hex, keyValues } from '../../../support/opamp-messages.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'
import { SUPERVISOR } from '../../../support/test-agent.ts'

const database = await useTestDatabase()
const YAML = configYaml()
const HASH = configHash(YAML)

let ctx: FleetTestContext
let tests = 0
beforeEach(async () => {
  tests++
  ctx = await createFleetContext(database)
})
afterEach(() => ctx.close())

const join = (uid?: string, capabilities?: number): FakeAgent =>
  fakeAgent(ctx.fleet, {
    host: `lost-${tests}`,
    ...(uid === undefined ? {} : { uid }),
    ...(capabilities === undefined ? {} : { capabilities }),
  })

/**
 * Let an agent lose its connection and reconnect so many times, as one does whose process the config ends; returns the
 * agent on its last connection and how many offers it got in all.
 */
async function crash(agent: FakeAgent, times: number): Promise<{ agent: FakeAgent; offers: number }> {
  let last = agent
  let offers = agent.offered().length
  for (let time = 0; time < times; time++) {
    last.lose()
    await ctx.advance(1_000)
    last = join(agent.uid)
    await ctx.advance(1_000)
    offers += last.offered().length
  }
  return { agent: last, offers }
}

/** For longer than what an agent suffers is taken to be the doing of the config that it has applied. */
const LIVED_MS = 11 * 60_000

/**
 * Let an agent apply what it is offered, die some time later and come back without it, so many times; returns the agent on
 * its last connection and how many offers it got in all.
 */
async function dieAfterApplying(agent: FakeAgent, times: number, livesMs: number, awayMs = 1_000) {
  await ctx.advance(1_000)
  let last = agent
  let offers = agent.offered().length
  for (let time = 0; time < times; time++) {
    if (last.offered().length > 0) last.apply(HASH)
    await ctx.advance(livesMs)
    last.lose()
    await ctx.advance(awayMs)
    last = join(agent.uid)
    await ctx.advance(1_000)
    offers += last.offered().length
  }
  return { agent: last, offers }
}

/** The capabilities of an agent that does not report what becomes of a config. */
const MUTE = SUPERVISOR & ~AGENT_CAPABILITIES.reportsRemoteConfig

/**
 * Let an agent lose its connection and reconnect `times` times, `afterMs` apart; returns how often it was offered the
 * config.
 */
async function returnMute(agent: FakeAgent, times: number, afterMs: number): Promise<number> {
  let last = agent
  let offers = 0
  for (let time = 0; time < times; time++) {
    await ctx.advance(afterMs)
    last.lose()
    await ctx.advance(1_000)
    last = join(agent.uid, MUTE)
    await ctx.advance(1_000)
    offers += last.offered().length
  }
  return offers
}

/** Push the config again in stages: to this agent alone, while the others are assigned the former push of it. */
const pushAgainToFirst = (agent: FakeAgent) =>
  pushConfig(ctx.fleet, agent.workloadId, YAML, undefined, [
    { count: 1, dwellMs: 86_400_000, gates: [] },
    { percentage: 100, dwellMs: 0, gates: [] },
  ])

const targetOf = (agent: FakeAgent) => ctx.fleet.workload(agent.workloadId)!.active!.targets.get(agent.uid)!

describe('a config that kills one agent of several', () => {
  it('fails there after three losses, and nobody else is moved', async () => {
    const agents = [join(), join(), join()] as const
    const push = await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    for (const agent of agents.slice(0, 2)) agent.apply()
    const { offers } = await crash(agents[2], 8)
    expect(offers).toBe(3)
    expect(targetOf(agents[2])).toMatchObject({
      state: 'failed',
      losses: 3,
      error: { cause: 'lost_while_applying' },
    })
    expect(push).toMatchObject({ status: 'applied', counts: { applied: 2, failed: 1 } })
    await ctx.advance(1_000)
    const workload = ctx.fleet.workload(agents[0].workloadId)!
    expect(workload.quarantinedHashes.size).toBe(0)
    expect([...workload.quarantinedInstances.get(HASH)!]).toEqual([agents[2].uid])
    expect(workload.newestPush!.pushId).toBe(push.pushId)
  })

  it('does not count one whose socket ended while our process stood still', async () => {
    const agents = [join(), join()] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    await ctx.advance(2_000)
    ctx.timers.after(0, () => {
      ctx.timers.standStill(16_000)
      agents[1].lose()
    })
    await ctx.advance(500)
    expect(targetOf(agents[1]).losses).toBe(0)
    const again = join(agents[1].uid)
    await ctx.advance(5_000)
    again.lose()
    expect(targetOf(again).losses).toBe(1)
  })

  it('counts one whose front tells of it though the owner stood still: the front did not', async () => {
    const agents = [join(), join()] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    Object.assign(agents[1].connection, { place: 'front-1/7' })
    await ctx.advance(2_000)
    ctx.timers.after(0, () => {
      ctx.timers.standStill(16_000)
      agents[1].lose()
    })
    await ctx.advance(500)
    expect(targetOf(agents[1]).losses).toBe(1)
  })

  it('is not offered there after our restart either', async () => {
    const agents = [join(), join()] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    const before = await crash(agents[1], 3)
    expect(before.offers).toBe(3)
    await ctx.close()
    ctx = await createFleetContext(database)
    const { offers } = await crash(join(agents[1].uid), 2)
    expect(offers).toBe(0)
    expect(targetOf(agents[1])).toMatchObject({ state: 'failed', error: { cause: 'lost_while_applying' } })
    expect(ctx.fleet.workload(agents[0].workloadId)!.newestPush!.status).toBe('applied')
  })

  it('counts the losses from before our restart', async () => {
    const agents = [join(), join()] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    expect((await crash(agents[1], 2)).offers).toBe(3)
    await ctx.close()
    ctx = await createFleetContext(database)
    expect((await crash(join(agents[1].uid), 3)).offers).toBe(1)
    expect(targetOf(agents[1]).state).toBe('failed')
  })

  it('counts those that die while they say that they apply it, though it is not offered again', async () => {
    const agents = [join(), join()] as const
    const push = await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    let last = agents[1]
    for (let time = 0; time < 3; time++) {
      last.applying(HASH)
      last.lose()
      await ctx.advance(1_000)
      last = join(agents[1].uid)
    }
    expect(targetOf(agents[1]).state).toBe('failed')
    expect(push.status).toBe('applied')
  })

  it('does so too where the push is applied already and the agent joins', async () => {
    const first = join()
    const push = await pushConfig(ctx.fleet, first.workloadId, YAML)
    first.apply()
    expect(push.status).toBe('applied')
    const second = join()
    await ctx.advance(1_000)
    const { offers } = await crash(second, 6)
    expect(offers).toBe(3)
    expect(push.status).toBe('applied')
  })

  it('is offered there again by a new push of it', async () => {
    const agents = [join(), join()] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    const { agent } = await crash(agents[1], 4)
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    expect(agent.offered()).toEqual([HASH])
    agent.apply()
    expect(targetOf(agent).state).toBe('applied')
  })

  it('fails the push when the agent says in the end that it failed, while the push is open', async () => {
    const agents = [join(), join(), join()] as const
    const push = await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    const { agent } = await crash(agents[1], 3)
    expect(push.status).toBe('pending')
    agent.fail('port in use', HASH)
    await ctx.advance(1_000)
    expect(ctx.fleet.workload(agents[0].workloadId)!.newestPush!.status).toBe('failed')
  })

  it('is offered there three times more where it was pushed again to others, also after our restarts', async () => {
    const agents = [join(), join()] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    expect((await crash(agents[1], 6)).offers).toBe(3)
    await pushAgainToFirst(agents[0])
    let offers = 0
    for (let restart = 0; restart < 3; restart++) {
      await ctx.close()
      ctx = await createFleetContext(database)
      const back = await crash(join(agents[1].uid), 4)
      offers += back.offers
      back.agent.lose()
    }
    expect(offers).toBeGreaterThan(0)
    expect(offers).toBeLessThanOrEqual(3)
    const { quarantinedInstances } = ctx.fleet.workload(agents[0].workloadId)!
    expect([...quarantinedInstances.get(HASH)!]).toEqual([agents[1].uid])
  })

  it('has three tries after our restart where it was pushed again to others', async () => {
    const agents = [join(), join()] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    await crash(agents[1], 6)
    await pushAgainToFirst(agents[0])
    await ctx.close()
    ctx = await createFleetContext(database)
    expect((await crash(join(agents[1].uid), 6)).offers).toBe(3)
    expect(targetOf(agents[1])).toMatchObject({ state: 'failed', losses: 3 })
  })

  it('is forgiven what was lost before it applied the config once it has lived with it', async () => {
    const agents = [join(), join()] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    const { agent } = await crash(agents[1], 2)
    agent.apply(HASH)
    await ctx.advance(LIVED_MS)
    agent.lose()
    expect(targetOf(agent)).toMatchObject({ state: 'applied', losses: 0 })
  })
})

describe('a config that kills an agent after it has said that it applied it', () => {
  it('fails there after three losses, and nobody else is moved', async () => {
    const agents = [join(), join(), join()] as const
    const push = await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    for (const agent of agents.slice(0, 2)) agent.apply()
    const { offers } = await dieAfterApplying(agents[2], 10, 20_000)
    expect(offers).toBe(3)
    expect(targetOf(agents[2])).toMatchObject({
      state: 'failed',
      losses: 3,
      error: { cause: 'lost_while_applying' },
    })
    expect(push).toMatchObject({ status: 'applied', counts: { applied: 2, failed: 1 } })
    const workload = ctx.fleet.workload(agents[0].workloadId)!
    expect([...workload.quarantinedInstances.get(HASH)!]).toEqual([agents[2].uid])
    expect(workload.quarantinedHashes.size).toBe(0)
    expect(workload.newestPush!.pushId).toBe(push.pushId)
  })

  it.each([
    ['stays away for longer than the grace each time', false, 300_000],
    ['joined', true, 1_000],
    ['joined, and stays away for longer than the grace each time', true, 300_000],
  ])('fails there too where the agent %s', async (_, isJoiner, awayMs) => {
    const first = join()
    const planned = isJoiner ? null : join()
    await pushConfig(ctx.fleet, first.workloadId, YAML)
    first.apply()
    const { agent, offers } = await dieAfterApplying(planned ?? join(), 6, 20_000, awayMs)
    expect(offers).toBe(3)
    expect(targetOf(agent).state).toBe('failed')
  })

  it('counts the losses from before our restart', async () => {
    const agents = [join(), join()] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    const before = await dieAfterApplying(agents[1], 2, 20_000)
    before.agent.lose()
    await ctx.close()
    ctx = await createFleetContext(database)
    const after = await dieAfterApplying(join(agents[1].uid), 4, 20_000)
    expect(before.offers + after.offers).toBeLessThanOrEqual(4)
    expect(targetOf(agents[1]).state).toBe('failed')
  })

  it('fails as a whole where it kills everybody so', async () => {
    const agent = join()
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(4318))
    agent.apply()
    await ctx.advance(LIVED_MS)
    await pushConfig(ctx.fleet, agent.workloadId, YAML)
    await dieAfterApplying(agent, 4, 20_000)
    await ctx.advance(1_000)
    expect(ctx.fleet.workload(agent.workloadId)!.newestPush).toMatchObject({
      kind: 'auto-rollback',
      failedHash: HASH,
      failedError: { cause: 'lost_while_applying' },
    })
  })

  it.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])('fails there too where the clock on the wall is put %s as it has applied it', async (_, ms) => {
    const agents = [join(), join()] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    let last = agents[1] as FakeAgent
    for (let time = 0; time < 3; time++) {
      await ctx.advance(1_000)
      last.apply(HASH)
      ctx.clock.set(new Date(ctx.clock.now().getTime() + ms))
      await ctx.advance(20_000)
      last.lose()
      await ctx.advance(1_000)
      last = join(agents[1].uid)
    }
    expect(targetOf(last)).toMatchObject({ state: 'failed', error: { cause: 'lost_while_applying' } })
  })

  it('fails there where we stand still for long as it dies: nobody knows when it did', async () => {
    const agents = [join(), join()] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    agents[1].apply()
    Object.assign(agents[1].connection, { place: 'front-1/7' })
    await ctx.advance(5_000)
    ctx.timers.after(0, () => {
      ctx.timers.standStill(LIVED_MS)
      agents[1].lose()
    })
    await ctx.advance(500)
    expect(targetOf(agents[1]).losses).toBe(1)
  })

  it('is offered again for as long as the agent restarts only now and then', async () => {
    const agents = [join(), join()] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    const { agent, offers } = await dieAfterApplying(agents[1], 6, LIVED_MS)
    expect(offers).toBe(7)
    expect(targetOf(agent)).toMatchObject({ losses: 0 })
  })

  it('is not taken to do so where connections end and the agent still runs it as it comes back', async () => {
    const agents = [join(), join()] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    agents[1].apply()
    let last = agents[1] as FakeAgent
    for (let time = 0; time < 8; time++) {
      await ctx.advance(20_000)
      last.lose()
      await ctx.advance(1_000)
      const remoteConfigStatus = { hash: HASH, status: 'applied' as const, errorMessage: '' }
      last = fakeAgent(ctx.fleet, { host: `lost-${tests}`, uid: last.uid, more: { remoteConfigStatus } })
    }
    expect(last.offered()).toEqual([])
    expect(targetOf(last)).toMatchObject({ state: 'applied', losses: 0 })
  })

  it('is not taken to do so once an agent that lost its connection before is back with it', async () => {
    const agent = join()
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(4318))
    agent.apply()
    await ctx.advance(LIVED_MS)
    const push = await pushConfig(ctx.fleet, agent.workloadId, YAML)
    const { agent: third } = await crash(agent, 2)
    third.apply(HASH)
    await ctx.advance(20_000)
    third.lose()
    await ctx.advance(1_000)
    const remoteConfigStatus = { hash: HASH, status: 'applied' as const, errorMessage: '' }
    fakeAgent(ctx.fleet, { host: `lost-${tests}`, uid: agent.uid, more: { remoteConfigStatus } })
    await ctx.advance(5_000)
    const workload = ctx.fleet.workload(agent.workloadId)!
    expect(workload.newestPush).toMatchObject({ pushId: push.pushId, status: 'applied' })
    expect(workload.quarantinedHashes.size).toBe(0)
    expect(targetOf(agent)).toMatchObject({ state: 'applied', losses: 0 })
  })

  it('is not taken to do so by agents that say goodbye, nor by what we end', async () => {
    const agents = [join(), join()] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    let last = agents[1] as FakeAgent
    for (let time = 0; time < 5; time++) {
      last.apply(HASH)
      await ctx.advance(20_000)
      last.goodbye()
      await ctx.advance(1_000)
      last = join(agents[1].uid)
      await ctx.advance(1_000)
    }
    expect(last.offered()).toEqual([HASH])
  })
})

it('a config that kills everybody who took it fails as a whole, also where somebody is silent', async () => {
  const agents = [join(), join()] as const
  const push = await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
  await crash(agents[0], 3)
  expect(push.status).toBe('pending')
  agents[1].goodbye()
  await ctx.advance(1_000)
  expect(ctx.fleet.workload(agents[0].workloadId)!.newestPush).toMatchObject({
    status: 'failed',
    error: { cause: 'lost_while_applying' },
  })
})

it('a poller that makes room for others was not lost with its offer', async () => {
  const exchange = createOpampExchange({
    fleet: ctx.fleet,
    clock: ctx.clock,
    log: silentLog,
    messageBytesMax: 1_048_576,
    pollersMax: { perSource: 1, inAll: 10 },
  })
  const poll = (uid: string, sequenceNum: number, more = {}) =>
    exchange.answerBody(
      agentBody({ instanceUid: hex(uid), sequenceNum, capabilities: 0x1807, ...more }),
      '192.0.2.1',
    )
  const uid = `0192d3b4000070009000${tests.toString(16).padStart(12, '0')}`
  await poll(uid, 0, {
    agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'a', 'host.name': 'b' }) },
    remoteConfigStatus: {},
  })
  const workload = ctx.fleet.state.instances.get(uid)!.workload!
  await pushConfig(ctx.fleet, workload.id, YAML)
  await poll(uid, 1)
  expect(workload.active!.push.sentAt).not.toBeNull()
  await poll(uid.replace('9000', '9001'), 0)
  expect(ctx.fleet.state.instances.get(uid)!.connection).toBeNull()
  expect(workload.active!.targets.get(uid)!.losses).toBe(0)
})

describe('an agent that does not say what becomes of a config', () => {
  it('is not offered again what it died of three times soon after, also after our restart', async () => {
    const agents = [join(), join(undefined, MUTE)] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    expect(agents[1].offered()).toHaveLength(1)
    expect(await returnMute(agents[1], 8, 5_000)).toBe(2)
    const workload = ctx.fleet.workload(agents[0].workloadId)!
    expect(workload.quarantinedHashes.size).toBe(0)
    expect([...workload.quarantinedInstances.get(HASH)!]).toEqual([agents[1].uid])
    await ctx.close()
    ctx = await createFleetContext(database)
    expect(await returnMute(join(agents[1].uid, MUTE), 2, 5_000)).toBe(0)
  })

  it('is not either where the config was pushed again to others, and its end has a cause', async () => {
    const agents = [join(), join(undefined, MUTE)] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    await pushAgainToFirst(agents[0])
    const offers = await returnMute(agents[1], 8, 5_000)
    expect(offers).toBeLessThanOrEqual(3)
    const { active, quarantinedInstances } = ctx.fleet.workload(agents[0].workloadId)!
    expect([...quarantinedInstances.get(HASH)!]).toEqual([agents[1].uid])
    expect(active!.targets.get(agents[1].uid)!.error).toMatchObject({ cause: 'lost_while_applying' })
    await ctx.close()
    ctx = await createFleetContext(database)
    expect(await returnMute(join(agents[1].uid, MUTE), 2, 5_000)).toBe(0)
  })

  it('has three tries again where the config was pushed again to others', async () => {
    const agents = [join(), join(undefined, MUTE)] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    expect(await returnMute(agents[1], 8, 5_000)).toBe(2)
    await pushAgainToFirst(agents[0])
    expect(await returnMute(join(agents[1].uid, MUTE), 8, 5_000)).toBe(2)
    expect(targetOf(agents[1])).toMatchObject({ losses: 3, error: { cause: 'lost_while_applying' } })
  })

  it('is offered it on each new connection while it lives with it', async () => {
    const agents = [join(), join(undefined, MUTE)] as const
    await pushConfig(ctx.fleet, agents[0].workloadId, YAML)
    agents[0].apply()
    expect(await returnMute(agents[1], 5, 150_000)).toBe(5)
    expect(ctx.fleet.workload(agents[0].workloadId)!.quarantinedInstances.size).toBe(0)
  })
})
