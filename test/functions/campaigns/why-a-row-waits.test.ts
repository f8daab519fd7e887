import { afterEach, expect, it } from 'vitest'
import { CampaignScene } from '../../support/campaign-scene.ts'
import { fakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: CampaignScene
afterEach(() => scene.ctx.close())

it('a workload that is not begun because another push of it is open says so', async () => {
  scene = await CampaignScene.open(database, 1)
  const [agent] = scene.agents
  const { workloadId } = agent!
  await pushConfig(scene.ctx.fleet, workloadId, configYaml(7))
  const id = await scene.approved()
  expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
  await scene.work(2_000, 2)
  expect(await scene.targetOf(id, agent!)).toMatchObject({ state: 'waiting', is_busy: true })
  agent!.apply()
  await scene.work(5_000, 2)
  expect(await scene.targetOf(id, agent!)).not.toHaveProperty('is_busy')
})

it('a workload on which some instances failed the change says of what', async () => {
  scene = await CampaignScene.open(database, 0)
  const { ctx } = scene
  const pods = Array.from({ length: 3 }, (_, n) =>
    fakeAgent(ctx.fleet, { host: 'vm-three', pod: `pod-${n}` }),
  )
  await ctx.advance(300)
  await pushConfig(ctx.fleet, pods[0]!.workloadId, configYaml(1))
  for (const pod of pods) pod.apply()
  await ctx.advance(300)
  const id = await scene.start()
  await scene.work(300, 2)
  for (const pod of pods.slice(1)) pod.apply()
  // It dies of the config before it can say a word.
  let dying = pods[0]!
  for (let n = 0; n < 3; n++) {
    dying.lose()
    await scene.work(1_000)
    dying = fakeAgent(ctx.fleet, { host: 'vm-three', pod: 'pod-0', uid: dying.uid })
    await scene.work(1_000)
  }
  expect(await scene.targetOf(id, dying)).toMatchObject({
    reach: { applied_count: 2, failed_count: 1, error: { error_cause: 'lost_while_applying' } },
  })
})
