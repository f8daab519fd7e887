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
