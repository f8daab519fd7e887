import { afterAll, beforeEach, expect, it } from 'vitest'
import { HEALTHY } from '../../support/agent-report.ts'
import { CampaignScene, SICK } from '../../support/campaign-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let scene: CampaignScene

beforeEach(async () => {
  await scene?.ctx.close()
  scene = await CampaignScene.open(database, 3)
})
afterAll(() => scene.ctx.close())

const targets = async (id: string) =>
  (await scene.call('GET', `/${id}/targets?order=worst`)).json as { workload_id: string }[]

it('a plan says who of those that it changes is not well before it comes to them, and of what', async () => {
  const [, sick] = scene.agents
  sick!.say({ health: SICK })
  await scene.work(61_000, 2)
  const id = await scene.planned()
  const trouble = { kind: 'unhealthy', count: 1, total: 1 }
  expect(await scene.record(id)).toMatchObject({
    unwell_now: { count: 1, workloads: [{ workload_id: sick!.workloadId, trouble }] },
  })
  const [worst, ...rest] = await targets(id)
  expect(worst).toMatchObject({ workload_id: sick!.workloadId, state: 'waiting', trouble })
  for (const well of rest) expect(well).not.toHaveProperty('trouble')
  // As it is now, and not as it was when the plan was made.
  sick!.say({ health: HEALTHY })
  await scene.work(1_000, 2)
  expect(await scene.record(id)).not.toHaveProperty('unwell_now')
})

it('one that is only away is told of as that, and a campaign that was begun by what it does', async () => {
  const [away, sick] = scene.agents
  scene.ctx.fleet.connectionClosed(away!.connection)
  sick!.say({ health: SICK })
  await scene.work(61_000, 3)
  const id = await scene.start()
  expect(await scene.record(id)).not.toHaveProperty('unwell_now')
  const planned = await scene.planned({ name: 'Another' })
  expect(await scene.record(planned)).toMatchObject({
    unwell_now: { count: 1, workloads: [{ workload_id: sick!.workloadId }] },
  })
})
