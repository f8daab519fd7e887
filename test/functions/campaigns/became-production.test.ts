import { afterEach, beforeEach, expect, it } from 'vitest'
import { CampaignScene, SECOND } from '../../support/campaign-scene.ts'
import type { FakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// What was approved for a workload that was no production is not done once it is one.

const database = await useTestDatabase()
let scene: CampaignScene
let second: FakeAgent
let id: string

beforeEach(async () => {
  scene = await CampaignScene.open(database, 2)
})
afterEach(() => scene.ctx.close())

/** A campaign whose first wave has run, and a host of the second. */
async function begin(): Promise<void> {
  id = await scene.start({ waves: [{ count: 1, dwell_seconds: 30 }, {}] })
  const first = await scene.firstOf(id)
  second = scene.agents.find((agent) => agent !== first)!
  await scene.work(300)
  first.apply()
  await scene.work(1_000)
}

async function label(as: SignedIn, labels: Record<string, string>): Promise<void> {
  const path = `PUT /api/workloads/${second.workloadId}/trusted-labels`
  expect((await invoke(scene.ctx, path, { as: as.token, body: { labels } })).status).toBe(200)
}

it('is skipped also where one person alone has called it something else again since', async () => {
  await begin()
  const admin = await signIn(scene.ctx)
  await label(admin, { env: 'production' })
  await label(admin, { env: 'staging' })
  await scene.work(10_000, 6)
  expect(await scene.targetOf(id, second)).toMatchObject({ state: 'skipped', reason: 'became_production' })
  expect(second.offered()).not.toContain(SECOND)
})

it('is started where a second person has accepted that', async () => {
  await begin()
  const admin = await signIn(scene.ctx)
  await label(admin, { env: 'production' })
  await label(admin, { env: 'staging' })
  const other = await signIn(scene.ctx)
  const { json } = await invoke(scene.ctx, 'GET /api/reviews', { as: other.token })
  for (const { id: review } of (json as { id: string; kind: string }[]).filter(({ kind }) =>
    /label/.test(kind),
  ))
    await invoke(scene.ctx, `POST /api/reviews/${review}`, {
      as: other.token,
      body: { comment: 'yes', accepted: true },
    })
  await scene.work(10_000, 6)
  expect(second.offered()).toContain(SECOND)
})

it('is not started by labels that the database does not hold any more, as where the answer of a commit was lost', async () => {
  await begin()
  await database.pool.execute(`update workloads set trusted_labels = '{"env":"production"}' where id = $1`, [
    second.workloadId,
  ])
  await scene.work(10_000, 6)
  expect(second.offered()).not.toContain(SECOND)
})

it('is changed where that was approved of it as production, which it is by what one person called it before', async () => {
  second = scene.agents[1]!
  const admin = await signIn(scene.ctx)
  await label(admin, { env: 'production' })
  await label(admin, { env: 'staging' })
  id = await scene.planned({ waves: [{}] })
  const { plan, plan_hash } = await scene.record(id)
  expect(plan).toMatchObject({ production_count: 1, waves: [{ target_count: 1 }, { target_count: 1 }] })
  const asked = { plan_hash, comment: 'yes', prod_confirmation: true }
  expect((await scene.call('POST', `/${id}/request`, asked)).status).toBe(200)
  expect((await scene.call('POST', `/${id}/approve`, asked, scene.approver)).status).toBe(200)
  expect((await scene.call('POST', `/${id}/start`, asked)).status).toBe(200)
  for (let n = 0; n < 8; n++) {
    await scene.work(20_000)
    for (const agent of scene.agents) if (agent.offered().at(-1) === SECOND) agent.apply()
  }
  expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 2 } })
})
