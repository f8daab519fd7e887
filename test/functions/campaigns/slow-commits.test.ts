import { afterEach, expect, it } from 'vitest'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { CampaignScene, FIRST, SECOND } from '../../support/campaign-scene.ts'
import type { FleetTestContext } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { slowDatabase } from '../../support/slow-commit.ts'

// The answer to the commit of a push is lost while the server is still at it. What a campaign, or a version that applies
// by itself, reads meanwhile lacks that push: once it has ended, its end is noted all the same.

const database = await useTestDatabase()
const slowed = slowDatabase(database)
let ctx: FleetTestContext
afterEach(() => ctx.close())

/** Work twice while the commit has not ended: the first time its answer is lost. Then it ends. */
async function workUntilCommitted(finish: () => void): Promise<void> {
  const { signal } = new AbortController()
  for (let n = 0; n < 2; n++) {
    await ctx.campaigns.work(signal)
    await ctx.autoApply.work(signal)
  }
  const settled = ctx.advance(2_000)
  await slowed.untilAwaited()
  finish()
  await settled
  await ctx.advance(1_000)
}

async function openCampaign(hosts: number): Promise<CampaignScene> {
  const scene = await CampaignScene.open(database, hosts, slowed.db)
  ctx = scene.ctx
  return scene
}

it('a start that the database is slow to commit counts, and the campaign ends', async () => {
  const scene = await openCampaign(2)
  const id = await scene.start()
  await workUntilCommitted(slowed.slowDown('campaign.push'))
  for (let n = 0; n < 5; n++) {
    await scene.work(2_000)
    for (const agent of scene.offered(SECOND)) agent.apply()
  }
  expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 2 } })
})

it('a roll-back that the database is slow to commit ends', async () => {
  const scene = await openCampaign(1)
  const id = await scene.start()
  await scene.work()
  for (const agent of scene.offered(SECOND)) agent.apply()
  await scene.work(2_000, 3)
  expect((await scene.call('POST', `/${id}/roll-back`, { comment: 'broken' })).status).toBe(200)
  await workUntilCommitted(slowed.slowDown('rollback'))
  for (let n = 0; n < 5; n++) {
    await scene.work(2_000)
    for (const agent of scene.offered(FIRST)) agent.apply()
  }
  expect(await scene.record(id)).toMatchObject({ status: 'rolled_back', counts: { rolled_back: 1 } })
})

it('a push of a version that applies by itself counts', async () => {
  const scene = await AutoApplyScene.open(database, slowed.db)
  ctx = scene.ctx
  await scene.carry(1)
  await scene.apply(1)
  scene.connect('vm-9')
  await ctx.advance(1_000)
  await workUntilCommitted(slowed.slowDown('auto-apply.push'))
  for (let n = 0; n < 5; n++) {
    await scene.work(2_000)
    await scene.applyAll(['vm-9'])
  }
  expect(await scene.targets()).toMatchObject([{ state: 'applied' }])
})
