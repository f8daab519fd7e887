import { afterEach, expect, it } from 'vitest'
import { CampaignScene, FIRST, SECOND } from '../../support/campaign-scene.ts'
import { fakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: CampaignScene
afterEach(() => scene.ctx.close())

/** Thirty pods of one workload that run the first config, and a campaign that three of them have the second one by. */
async function openAmidStages(started: Record<string, unknown>) {
  scene = await CampaignScene.open(database, 0)
  const { ctx } = scene
  const pods = Array.from({ length: 30 }, (_, n) => fakeAgent(ctx.fleet, { host: 'vm-big', pod: `pod-${n}` }))
  const has = (hash: string) => pods.filter((pod) => pod.offered().at(-1) === hash)
  await ctx.advance(300)
  await pushConfig(ctx.fleet, pods[0]!.workloadId, configYaml(1))
  for (const pod of pods) pod.apply()
  // It never got a config, so nothing takes it back.
  const fresh = fakeAgent(ctx.fleet, { host: 'vm-new' })
  await ctx.advance(300)
  const id = await scene.start(started)
  await scene.work(300, 2)
  expect(has(SECOND)).toHaveLength(3)
  for (const pod of [...has(SECOND), fresh]) if (pod.offered().length > 0) pod.apply()
  await scene.work(2_000)
  const untilBack = async () => {
    await scene.work(2_000, 3)
    expect(has(SECOND)).toEqual([])
    for (const pod of pods) pod.apply(FIRST)
    await scene.work(1_000, 3)
    expect(await scene.record(id)).toMatchObject({ status: 'rolled_back' })
  }
  return { id, untilBack }
}

it('a roll-back takes back a target amid its stages that fills all that may be changed at once', async () => {
  const { id, untilBack } = await openAmidStages({ max_in_flight: 30 })
  expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'it is broken' })).status).toBe(200)
  await untilBack()
})

it('what an abort stopped amid its stages counts among what goes back, and goes back where all else has nothing before it', async () => {
  const change = { kind: 'text', yaml: configYaml(2), takeover: true }
  const { id, untilBack } = await openAmidStages({ change })
  expect((await scene.call('POST', `/${id}/abort`, { comment: 'no' })).status).toBe(200)
  await scene.work(2_000, 3)
  expect((await scene.record(id)).way_back).toMatchObject({ goes_back: 1, no_way_back: 1 })
  expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
  await untilBack()
})
