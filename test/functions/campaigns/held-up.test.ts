import { afterEach, expect, it } from 'vitest'
import { describeCampaign, describeWait } from '../../../runtime/ui/i18n/campaign-sentences.ts'
import { nameStatus } from '../../../runtime/ui/i18n/campaign-status.ts'
import { lookOf, waveStateOf } from '../../../runtime/ui/logic/campaigns.ts'
import { CampaignScene } from '../../support/campaign-scene.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let scene: CampaignScene
afterEach(async () => {
  await scene.ctx.close()
  await database.pool.execute(`delete from settings where name = 'freeze'`)
})

it('a campaign that a freeze keeps from its next wave says so, until when and why, and goes on once it is lifted', async () => {
  scene = await CampaignScene.open(database, 2)
  const id = await scene.start({ waves: [{ count: 1 }, {}] })
  await scene.work(300)
  expect(await scene.record(id)).not.toHaveProperty('held_up')
  const first = await scene.firstOf(id)
  const second = scene.agents.find((agent) => agent !== first)!
  const admin = await signIn(scene.ctx)
  const until = new Date(scene.ctx.clock.now().getTime() + 3_600_000).toISOString()
  const body = { reason: 'Black Friday', until }
  expect((await invoke(scene.ctx, 'PUT /api/freeze', { as: admin.token, body })).status).toBe(200)
  // The push of the first goes on: something is under way.
  expect(await scene.record(id)).not.toHaveProperty('held_up')
  first.apply()
  await scene.work(2_000, 5)

  const held = await scene.record(id)
  expect(held).toMatchObject({ wave: 1, held_up: { reason: 'frozen', until, about: 'Black Friday' } })
  expect(describeCampaign(held, 0).join(' ')).toMatch(
    /^Wave 2 of 2 waits for the end of the freeze \(.*, Black Friday\)\. /,
  )
  expect([lookOf(held)[0], waveStateOf(held, 1), nameStatus(held)]).toEqual([
    'warn',
    'waiting',
    'waits: frozen',
  ])
  const { json: listed } = await scene.call('GET', '')
  expect(listed).toMatchObject([{ id, held_up: { reason: 'frozen' } }])
  const feed = await invoke(scene.ctx, 'GET /api/changes?kind=campaign', { as: admin.token })
  expect(feed.json).toMatchObject([{ id, campaign_status: 'running', held_up: 'frozen' }])
  const target = await scene.targetOf(id, second)
  expect(target).toMatchObject({ state: 'waiting', hold: { reason: 'frozen', about: 'Black Friday' } })
  expect(describeWait(target, 'running')).toBe('Frozen (Black Friday): it is started once that is over.')

  await invoke(scene.ctx, 'DELETE /api/freeze', { as: admin.token })
  await scene.work(5_000, 2)
  expect(await scene.record(id)).not.toHaveProperty('held_up')
  expect(await scene.targetOf(id, second)).toMatchObject({ state: 'started' })
})

it('one that is outside of its windows waits for the next one', async () => {
  scene = await CampaignScene.open(database, 1)
  const at = (hours: number) =>
    new Date(scene.ctx.clock.now().getTime() + hours * 3_600_000).toISOString().slice(11, 16)
  const id = await scene.start({ windows: [{ from: at(2), to: at(3) }] })
  await scene.work(2_000, 2)
  const held = await scene.record(id)
  expect(held).toMatchObject({ held_up: { reason: 'window' } })
  expect(describeCampaign(held, 0)[0]).toBe(
    'Wave 1 of 1 waits for the next window in which it may start workloads.',
  )
  await scene.work(2.5 * 3_600_000, 2)
  expect(await scene.record(id)).not.toHaveProperty('held_up')
})
