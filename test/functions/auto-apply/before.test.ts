import { afterEach, beforeEach, expect, it } from 'vitest'
import { AutoApplyScene, hashOn } from '../../support/auto-apply-scene.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// What happened to a workload before decides what a version brings to it by itself.

const database = await useTestDatabase()
let scene: AutoApplyScene
beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
})
afterEach(() => scene.ctx.close())

const asAdmin = async (route: string, body?: object) => {
  const { status, json } = await invoke(scene.ctx, route, { as: (await signIn(scene.ctx)).token, body })
  expect(status, JSON.stringify(json)).toBeLessThan(300)
}

/** A campaign brings version 2 and fails on one host. */
async function failOn(host: string): Promise<void> {
  await scene.carry(1)
  await scene.write(2)
  const id = await scene.campaign(2)
  for (let n = 0; n < 3; n++) await scene.work(300)
  for (const other of ['vm-1', 'vm-2', 'vm-3']) if (other !== host) scene.agent(other).apply()
  scene.agent(host).fail('no such thing')
  await scene.ctx.advance(1_000)
  scene.agent(host).apply()
  for (let n = 0; n < 5; n++) await scene.work(1_000)
  expect(await scene.readCampaign(id)).toMatchObject({ status: 'done', counts: { applied: 2, failed: 1 } })
}

it('never reaches whom a campaign left failed, also where a later one had nothing to do with it', async () => {
  await failOn('vm-2')
  await scene.write(3)
  const { workloadId } = scene.agent('vm-2')
  await asAdmin(`POST /api/workloads/${workloadId}/hold`, { reason: 'it failed' })
  await scene.carry(3)
  await asAdmin(`POST /api/workloads/${workloadId}/release`)
  await scene.apply(3)
  await scene.work(16_000)
  expect(await scene.leftOut()).toEqual({ 'vm-2': 'campaign_failed' })
  expect(scene.runs('vm-2')).not.toBe(hashOn(3, 'vm-2'))
})

it('reaches a host that was removed from the inventory and comes back as any that is new', async () => {
  await scene.carry(1)
  await scene.apply(1)
  const agent = scene.connect('vm-9')
  await scene.work(3_000)
  agent.apply()
  await scene.work(1_000)
  agent.goodbye()
  agent.lose()
  await scene.work(200_000)
  await asAdmin(`DELETE /api/workloads/${agent.workloadId}`)
  await scene.work(1_000)
  const back = scene.connect('vm-9')
  for (let n = 0; n < 3; n++) await scene.work(3_000)
  expect(back.offered()).toEqual([hashOn(1, 'vm-9')])
  back.apply()
  await scene.work(16_000)
  expect(back.offered()).toEqual([hashOn(1, 'vm-9')])
  expect(await scene.leftOut()).toEqual({})
  expect(await scene.targets()).toMatchObject([{ workload_id: agent.workloadId, state: 'applied' }])
})
