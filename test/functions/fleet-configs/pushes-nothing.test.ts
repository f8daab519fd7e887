import { afterAll, beforeAll, expect, it } from 'vitest'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// Who a fleet config is for, and with which values, only says what the next campaign carries.

const database = await useTestDatabase()
let scene: AutoApplyScene
beforeAll(async () => {
  scene = await AutoApplyScene.open(database)
  await scene.carry(1)
})
afterAll(() => scene.ctx.close())

const pushes = () => database.pool.query('select push_id from pushes order by push_id')
const config = (body: object) =>
  scene.call(`PUT /api/fleet-configs/${scene.configId}`, { name: 'Hosts', ...body })
const VMS = { match_labels: { 'identity/host.name': 'vm-*' } }

it.each<[string, () => Promise<unknown>]>([
  [
    'variables of a workload',
    async () => {
      const { workloadId } = scene.agent('vm-1')
      const body = { values: { site: 'elsewhere' } }
      expect((await scene.call(`PUT /api/workloads/${workloadId}/variables`, body)).status).toBe(200)
    },
  ],
  [
    'a selector',
    async () => {
      const selector = { match_labels: { 'identity/host.name': 'vm-1' } }
      expect((await config({ selector })).status).toBe(200)
    },
  ],
  ['a priority', async () => expect((await config({ selector: VMS, priority: 7 })).status).toBe(200)],
  ['labels', () => scene.label('vm-2', { env: 'dev', site: 'elsewhere' })],
])('%s push nothing by themselves', async (_, change) => {
  const before = await pushes()
  expect(before.length).toBeGreaterThan(0)
  await change()
  await scene.work(60_000)
  await scene.work(60_000)
  expect(await pushes()).toEqual(before)
})
