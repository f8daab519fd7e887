import { afterEach, beforeEach, expect, it } from 'vitest'
import { CampaignScene, FIRST, SECOND } from '../../support/campaign-scene.ts'
import type { FakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

// A campaign of somebody who may push in staging only, and a workload that is not there any more as it is taken back.

const database = await useTestDatabase()
let scene: CampaignScene
let staging: FakeAgent
let outside: FakeAgent

beforeEach(async () => {
  scene = await CampaignScene.open(database, 2)
  ;[staging, outside] = scene.agents as [FakeAgent, FakeAgent]
})
afterEach(() => scene.ctx.close())

const label = async ({ workloadId }: FakeAgent) => {
  const admin = await signIn(scene.ctx, { groups: ['administrator'] })
  const request = `PUT /api/workloads/${workloadId}/trusted-labels`
  const answer = await invoke(scene.ctx, request, { as: admin.token, body: { labels: { env: 'staging' } } })
  expect(answer.status).toBe(200)
}

/** A campaign that both have applied. */
async function carried(more: object = {}): Promise<string> {
  const id = await scene.approved(more)
  expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
  await settle()
  expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 2 } })
  return id
}

async function settle(): Promise<void> {
  for (let n = 0; n < 3; n++) {
    await scene.work(1_000)
    for (const agent of scene.agents) agent.apply()
    await scene.work(70_000)
  }
}

async function rollBack(id: string): Promise<void> {
  expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'back' })).status).toBe(200)
  await settle()
  expect(await scene.record(id)).toMatchObject({ status: 'rolled_back' })
}

const cut = async (id: string) => {
  await label(staging)
  await database.pool.execute(
    `update campaigns set scope = scope || '{"cut_to": [{"key": "muster/env", "values": ["staging"]}]}' where id = $1`,
    [id],
  )
}
const runs = () => [staging, outside].map((agent) => agent.offered().at(-1))

it('is told as such beforehand and afterwards, and is not said to run something newer', async () => {
  const id = await carried()
  await cut(id)
  const wayBack = { goes_back: 1, no_way_back: 0, moved_on: 0, left_scope: 1 }
  expect((await scene.record(id)).way_back).toEqual(wayBack)
  await rollBack(id)
  expect((await scene.record(id)).counts).toEqual({ rolled_back: 1, left_scope: 1 })
  expect(runs()).toEqual([FIRST, SECOND])
})

it('goes back to what that campaign had brought where a newer one is taken back: it was taken back elsewhere only', async () => {
  const older = await carried()
  const newer = await carried({ change: { kind: 'text', yaml: configYaml(5) } })
  await cut(older)
  await rollBack(older)
  await rollBack(newer)
  expect(runs()).toEqual([FIRST, SECOND])
})
