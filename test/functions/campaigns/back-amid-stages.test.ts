import { afterEach, expect, it } from 'vitest'
import { CampaignScene, FIRST, SECOND } from '../../support/campaign-scene.ts'
import { fakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: CampaignScene
afterEach(() => scene.ctx.close())

it('a roll-back takes back a target amid its stages that fills all that may be changed at once', async () => {
  scene = await CampaignScene.open(database, 0)
  const { ctx } = scene
  const pods = Array.from({ length: 30 }, (_, n) => fakeAgent(ctx.fleet, { host: 'vm-big', pod: `pod-${n}` }))
  const has = (hash: string) => pods.filter((pod) => pod.offered().at(-1) === hash)
  await ctx.advance(300)
  await pushConfig(ctx.fleet, pods[0]!.workloadId, configYaml(1))
  for (const pod of pods) pod.apply()
  await ctx.advance(300)
  const id = await scene.start({ max_in_flight: 30 })
  await scene.work(300, 2)
  expect(has(SECOND)).toHaveLength(3)
  for (const pod of has(SECOND)) pod.apply()
  await scene.work(2_000)
  expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'it is broken' })).status).toBe(200)
  await scene.work(2_000, 3)
  expect(has(SECOND)).toEqual([])
  for (const pod of pods) pod.apply(FIRST)
  await scene.work(1_000, 3)
  expect(await scene.record(id)).toMatchObject({ status: 'rolled_back' })
})
