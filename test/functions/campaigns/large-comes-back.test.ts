import { afterEach, expect, it } from 'vitest'
import { CampaignScene, FIRST, SECOND } from '../../support/campaign-scene.ts'
import { type FakeAgent, fakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// A workload of more than twenty instances gets a campaign's change in stages, also where few of them are there yet.

const COUNT = 22
const database = await useTestDatabase()
let scene: CampaignScene
afterEach(async () => {
  await scene.ctx.close()
  for (const table of ['campaigns', 'workloads']) await database.pool.execute(`delete from ${table}`)
})

const pod = (n: number) => ({ host: 'vm-big', pod: `pod-${String(n).padStart(2, '0')}` })

/** One workload of so many instances, all of which run the first config. */
async function openLarge(): Promise<FakeAgent[]> {
  scene = await CampaignScene.open(database, 0)
  const { ctx } = scene
  const pods = Array.from({ length: COUNT }, (_, n) => fakeAgent(ctx.fleet, pod(n)))
  await ctx.advance(500)
  await pushConfig(ctx.fleet, pods[0]!.workloadId, configYaml(1))
  for (const one of pods) one.apply()
  await ctx.advance(500)
  return pods
}

function comeBack(pods: readonly FakeAgent[], n: number): FakeAgent {
  const agent = fakeAgent(scene.ctx.fleet, { ...pod(n), uid: pods[n]!.uid })
  agent.apply(FIRST)
  return agent
}

const changed = (agents: readonly FakeAgent[]) =>
  agents.filter((agent) => agent.offered().at(-1) === SECOND).length

it('right after a restart it is waited for, and then a share of all of it is changed', async () => {
  const pods = await openLarge()
  const id = await scene.start()
  await scene.restart(5_000)
  const agents = [0, 1, 2].map((n) => comeBack(pods, n))
  await scene.work(300, 3)
  expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'waiting' })
  for (let n = agents.length; n < COUNT; n++) agents.push(comeBack(pods, n))
  await scene.work(2_500, 2)
  expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'started' })
  expect(changed(agents)).toBe(3)
})

it('one that was away, and comes back instance by instance, is not changed all at once', async () => {
  const pods = await openLarge()
  const id = await scene.approved()
  for (const one of pods) one.lose()
  await scene.ctx.advance(150_000)
  expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
  await scene.work(2_000, 2)
  expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'offline' })
  const agents = [comeBack(pods, 0)]
  await scene.work(2_500, 2)
  expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'started' })
  for (let n = 1; n < COUNT; n++) agents.push(comeBack(pods, n))
  await scene.ctx.advance(2_000)
  expect(changed(agents)).toBe(1)
})

it('of a campaign that is done it goes no further once its approver may not approve any more', async () => {
  const pods = await openLarge()
  const id = await scene.approved()
  for (const one of pods) one.lose()
  await scene.ctx.advance(150_000)
  expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
  await scene.work(2_000, 3)
  expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { offline: 1 } })
  const agents = pods.map((_, n) => comeBack(pods, n))
  await scene.work(6_000, 2)
  expect(changed(agents)).toBe(3)
  for (const agent of agents) if (agent.offered().at(-1) === SECOND) agent.apply()
  await database.pool.execute('delete from user_groups where user_id = $1', [scene.approver.userId])
  await scene.work(6_000, 7)
  expect(changed(agents)).toBe(3)
  expect(await scene.record(id)).toMatchObject({ status: 'halted', halt: { gate: 'approver_gone' } })
})

it('an unexpected error right after the commit of its push keeps the campaign from nothing', async () => {
  const pods = await openLarge()
  const { fleet } = scene.ctx
  const push = fleet.push.bind(fleet)
  let hasBroken = false
  const breaking = async (...wanted: Parameters<typeof push>) => {
    const outcome = await push(...wanted)
    if (!outcome.ok || hasBroken) return outcome
    hasBroken = true
    throw new Error('after the commit')
  }
  Object.defineProperty(fleet, 'push', { configurable: true, value: breaking })
  const id = await scene.start()
  for (let n = 0; n < 4; n++) {
    await scene.work(15_000, 2)
    for (const one of pods) if (one.offered().at(-1) === SECOND) one.apply()
  }
  await scene.work(2_000, 2)
  expect(hasBroken).toBe(true)
  expect((await scene.record(id)).counts).toEqual({ applied: 1 })
})

it('one that was away for the plan, and that nothing was pushed to before, is as large as it was last', async () => {
  scene = await CampaignScene.open(database, 0)
  const { ctx } = scene
  const pods = Array.from({ length: COUNT }, (_, n) => fakeAgent(ctx.fleet, pod(n)))
  await ctx.advance(500)
  for (const one of pods) one.lose()
  await ctx.advance(150_000)
  const change = { kind: 'text', yaml: configYaml(2), takeover: true }
  const id = await scene.start({ change })
  expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'offline', instance_count: 0 })
  const back = (n: number) => fakeAgent(ctx.fleet, { ...pod(n), uid: pods[n]!.uid })
  const agents = [back(0)]
  await scene.work(2_500, 2)
  expect(await scene.targetOf(id, pods[0]!)).toMatchObject({ state: 'started' })
  for (let n = 1; n < COUNT; n++) agents.push(back(n))
  await ctx.advance(2_000)
  expect(changed(agents)).toBe(1)
})

it('workloads that were away for the plan take as much room as they have instances', async () => {
  scene = await CampaignScene.open(database, 0)
  const { ctx } = scene
  const hosts = ['vm-a', 'vm-b']
  const connect = () =>
    hosts.map((host) => [0, 1, 2].map((n) => fakeAgent(ctx.fleet, { host, pod: `pod-${n}` })))
  const before = connect()
  await ctx.advance(500)
  for (const [first] of before) await pushConfig(ctx.fleet, first!.workloadId, configYaml(1))
  for (const one of before.flat()) one.apply()
  await ctx.advance(500)
  for (const one of before.flat()) one.lose()
  await ctx.advance(150_000)
  const id = await scene.start({ max_in_flight: 3 })
  const after = connect()
  for (const one of after.flat()) one.apply(FIRST)
  await scene.work(2_500, 2)
  const states = async () =>
    (await Promise.all(after.map(([first]) => scene.targetOf(id, first!)))).map(({ state }) => state).sort()
  expect(await states()).toEqual(['offline', 'started'])
  for (const one of after.flat()) if (one.offered().at(-1) === SECOND) one.apply()
  await scene.work(2_500, 3)
  expect(await states()).toEqual(['applied', 'started'])
})
