import { afterAll, beforeEach, expect, it } from 'vitest'
import { CampaignScene } from '../../support/campaign-scene.ts'
import type { FakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let scene: CampaignScene

beforeEach(async () => {
  await scene?.ctx.close()
  scene = await CampaignScene.open(database, 4)
})
afterAll(() => scene.ctx.close())

const SICK = {
  healthy: false,
  status: '',
  lastError: 'dial tcp: lookup mail.example.com: no such host',
  startTimeUnixNano: 1n,
  statusTimeUnixNano: 1n,
  children: new Map(),
}

const targetsWorstFirst = async (id: string) =>
  (await scene.call('GET', `/${id}/targets?order=worst`)).json as { workload_id: string }[]

it('a campaign that goes on names who became unhealthy since it came to them, why, and how many may', async () => {
  const id = await scene.start({ waves: [{ count: 1, dwell_seconds: 1 }, { dwell_seconds: 600 }] })
  await scene.work(300, 3)
  const first = await scene.firstOf(id)
  first.apply()
  await scene.work(1_000, 4)
  const others = scene.agents.filter((agent) => agent !== first)
  for (const agent of others) agent.apply()
  await scene.work(1_000, 2)
  expect(await scene.record(id)).not.toHaveProperty('became_unhealthy')
  const [, sick] = others as [FakeAgent, FakeAgent]
  sick.say({ health: SICK as never })
  await scene.work(61_000, 2)
  const record = await scene.record(id)
  expect(record).toMatchObject({
    status: 'running',
    became_unhealthy: {
      count: 1,
      limit: 3,
      workloads: [
        {
          workload_id: sick.workloadId,
          unhealthy_since: { kind: 'unhealthy', count: 1, total: 1, error_cause: expect.any(String) },
        },
      ],
    },
  })
  const [worst, ...rest] = await targetsWorstFirst(id)
  expect(worst).toMatchObject({
    workload_id: sick.workloadId,
    state: 'applied',
    unhealthy_since: { kind: 'unhealthy', count: 1 },
  })
  for (const well of rest) expect(well).not.toHaveProperty('unhealthy_since')
  const { json: list } = await scene.call('GET', '')
  expect(list).toMatchObject([{ id, became_unhealthy: { count: 1 } }])
})
