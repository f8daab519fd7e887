import { afterEach, beforeEach, expect, it } from 'vitest'
import { AGENT_CAPABILITIES, type AgentReport } from '../../../../lib/opamp/report.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { config, PushedWorkload } from '../../../support/pushed-workload.ts'
import { SUPERVISOR } from '../../../support/test-agent.ts'

// A gateway carries several agents over one WebSocket, which stays open when one of the agents restarts.

const database = await useTestDatabase()
let ctx: FleetTestContext
let workload: PushedWorkload
beforeEach(async () => {
  ctx = await createFleetContext(database)
  workload = new PushedWorkload(ctx, 'a')
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

/** The capabilities of an agent that does not report what becomes of a config. */
const MUTE = SUPERVISOR & ~AGENT_CAPABILITIES.reportsRemoteConfig

/** Let an agent's process restart on the same socket: it describes itself and counts its messages from 0. */
async function restart(agent: FakeAgent, pod: string, more: Partial<AgentReport> = {}): Promise<void> {
  const attributes = { 'service.name': 'edge', 'host.name': 'vm', 'k8s.pod.name': `pod-${pod}` }
  agent.say({ sequenceNum: 0, attributes: new Map(Object.entries(attributes)), ...more })
  await ctx.advance(1_000)
}

/** Let an agent send heartbeats for this long. */
async function live(agent: FakeAgent, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 30_000) {
    agent.say({})
    await ctx.advance(30_000)
  }
}

it('one that cannot report is offered again what its former process may not have taken', async () => {
  await workload.settle(1)
  const mute = workload.join('m', { capabilities: MUTE })
  await ctx.advance(1_000)
  expect(mute.offered()).toEqual([config(1).hash])
  await restart(mute, 'm')
  expect(mute.offered()).toEqual([config(1).hash, config(1).hash])
  await live(mute, 600_000)
  expect(mute.offered()).toHaveLength(2)
})

it('one that cannot report and dies of the config each time is asked three times', async () => {
  await workload.settle(1)
  const mute = workload.join('m', { capabilities: MUTE })
  await ctx.advance(1_000)
  for (let i = 0; i < 8; i++) await restart(mute, 'm')
  expect(mute.offered()).toHaveLength(3)
  expect([...workload.live.quarantinedInstances.get(config(1).hash)!]).toEqual([mute.uid])
})

it('one that dies of the config each time is asked three times, and the config fails there', async () => {
  await workload.settle(1)
  const dying = workload.join('d')
  await ctx.advance(1_000)
  for (let i = 0; i < 8; i++) await restart(dying, 'd')
  expect(dying.offered()).toHaveLength(3)
  expect(await workload.ends(workload.live.active!.push.pushId)).toMatchObject({
    d: 'failed: lost_while_applying',
  })
})

it('one that applies the config and dies of it each time is asked three times, and the config fails there', async () => {
  await workload.settle(1)
  const dying = workload.join('d')
  await ctx.advance(1_000)
  for (let i = 0; i < 8; i++) {
    if (dying.offered().length > i) dying.apply()
    await ctx.advance(20_000)
    await restart(dying, 'd')
  }
  expect(dying.offered()).toHaveLength(3)
  expect(await workload.ends(workload.live.active!.push.pushId)).toMatchObject({
    a: 'applied',
    d: 'failed: lost_while_applying',
  })
})

it('one that starts again and again and keeps its config is not taken to die of it', async () => {
  await workload.settle(1)
  const agent = workload.agents[0]!
  const remoteConfigStatus = { hash: config(1).hash, status: 'applied' as const, errorMessage: '' }
  for (let i = 0; i < 8; i++) {
    await restart(agent, 'a', { remoteConfigStatus })
    await ctx.advance(20_000)
  }
  expect(agent.offered()).toHaveLength(1)
  expect(workload.live.active!.targets.get(agent.uid)).toMatchObject({ state: 'applied', losses: 0 })
})

it('one that comes back without its storage is offered again what it had applied', async () => {
  await workload.settle(1)
  const agent = workload.agents[0]!
  await restart(agent, 'a')
  expect(agent.offered()).toEqual([config(1).hash, config(1).hash])
})

it('one that describes itself again and counts on has not started anew', async () => {
  await workload.settle(1)
  const mute = workload.join('m', { capabilities: MUTE })
  await ctx.advance(1_000)
  mute.describe()
  await ctx.advance(1_000)
  expect(mute.offered()).toEqual([config(1).hash])
})
