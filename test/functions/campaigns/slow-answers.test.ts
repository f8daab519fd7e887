import { afterEach, expect, it } from 'vitest'
import { hasOpenPush } from '../../../lib/fleet/pushes/find-obstacle.ts'
import { AGENT_CAPABILITIES } from '../../../lib/opamp/report.ts'
import { CampaignScene, FIRST, SECOND } from '../../support/campaign-scene.ts'
import { type FakeAgent, type FakeAgentOptions, fakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'
import { SUPERVISOR } from '../../support/test-agent.ts'

// Targets whose answer takes long, or never comes: a campaign says so, and leaves nothing open behind it.

const MINUTE_MS = 60_000
const database = await useTestDatabase()
let scene: CampaignScene
afterEach(async () => {
  await scene.ctx.close()
  for (const table of ['campaigns', 'workloads']) await database.pool.execute(`delete from ${table}`)
})

/** A host of another kind beside `hosts` common ones. */
async function openWith(hosts: number, options: FakeAgentOptions): Promise<FakeAgent> {
  scene = await CampaignScene.open(database, hosts)
  const agent = fakeAgent(scene.ctx.fleet, options)
  scene.agents.push(agent)
  await scene.ctx.advance(500)
  return agent
}

/** So many minutes pass, in each of which the campaigns are looked after. */
async function minutes(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    scene.ctx.clock.advance(MINUTE_MS - 1_000)
    await scene.work(1_000)
  }
}

it('a host that does not report what became of a config is changed by one campaign after the other', async () => {
  const capabilities = SUPERVISOR & ~AGENT_CAPABILITIES.reportsRemoteConfig
  const mute = await openWith(0, { host: 'vm-9', capabilities })
  await pushConfig(scene.ctx.fleet, mute.workloadId, configYaml(1))
  await scene.ctx.advance(2_000)
  expect(hasOpenPush(scene.ctx.fleet.workload(mute.workloadId)!)).toBe(false)
  const id = await scene.start({ limits: { silent: 1 } })
  await scene.work(1_000, 2)
  expect(await scene.targetOf(id, mute)).toMatchObject({ state: 'started' })
  expect(mute.offered()).toEqual([FIRST, SECOND])
  await minutes(11)
  expect(await scene.targetOf(id, mute)).toMatchObject({ state: 'no_answer' })
})

it('a host that polls every ten minutes has the time to answer', async () => {
  const poller = await openWith(0, { host: 'vm-9', transport: 'http' })
  await pushConfig(scene.ctx.fleet, poller.workloadId, configYaml(1))
  for (let n = 0; n < 5; n++) {
    poller.say({})
    if (poller.offered().length > 0) poller.apply(FIRST)
    scene.ctx.clock.advance(10 * MINUTE_MS - 1_000)
    await scene.ctx.advance(1_000)
  }
  const id = await scene.start()
  await scene.work(1_000, 2)
  await minutes(5)
  poller.say({})
  expect(poller.offered().at(-1)).toBe(SECOND)
  await minutes(10)
  expect(await scene.targetOf(id, poller)).toMatchObject({ state: 'started' })
  poller.apply(SECOND)
  await scene.work(1_000, 2)
  expect(await scene.targetOf(id, poller)).toMatchObject({ state: 'applied' })
})

it('stages that take longer than ten minutes end with the campaign that is aborted', async () => {
  scene = await CampaignScene.open(database, 0)
  const { ctx } = scene
  const pods = Array.from({ length: 21 }, (_, n) => fakeAgent(ctx.fleet, { host: 'vm-big', pod: `pod-${n}` }))
  await ctx.advance(500)
  const id = await scene.start({ change: { kind: 'text', yaml: configYaml(2), takeover: true } })
  await scene.work(300, 3)
  const [slow, ...others] = pods.filter((pod) => pod.offered().at(-1) === SECOND)
  for (const other of others) other.apply()
  slow!.applying()
  await minutes(11)
  expect(await scene.targetOf(id, slow!)).toMatchObject({ state: 'started' })
  expect((await scene.call('POST', `/${id}/abort`, { comment: 'no' })).status).toBe(200)
  await scene.work(1_000, 2)
  const workload = ctx.fleet.workload(slow!.workloadId)!
  expect(workload.rollout?.stored.status).toBe('aborted')
  expect(hasOpenPush(workload)).toBe(false)
})
