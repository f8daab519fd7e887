import { afterEach, beforeEach, expect, it } from 'vitest'
import { markByItselfRollingBack } from '../../../lib/store/auto-apply-roll-back.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene
beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
})
afterEach(() => scene.ctx.close())

it('three failures in a row stop a version also while it is being taken back from somebody else', async () => {
  await scene.carry(1)
  await scene.apply(1)
  scene.connect('vm-4')
  for (let n = 0; n < 6; n++) {
    await scene.work(1_000)
    await scene.applyAll(['vm-4'])
  }
  // As a campaign that is cut to a scope takes it back: the version goes on outside of that.
  const { workloadId } = scene.agent('vm-4')
  await database.pool.execute(
    `insert into campaigns select (jsonb_populate_record(c, '{"id":"cmp_cut"}')).* from campaigns c limit 1`,
  )
  await database.pool.execute(
    `update auto_apply_targets set rolled_back_by = 'cmp_cut' where workload_id = $1`,
    [workloadId],
  )
  const back = { campaignId: 'cmp_cut', workloadId, pushId: '0192d3b4-0000-7000-8000-000000000001' }
  expect(await markByItselfRollingBack(database.pool, back)).toBe(true)
  for (const host of ['vm-5', 'vm-6', 'vm-7', 'vm-8']) {
    const agent = scene.connect(host)
    await scene.work(1_000)
    await scene.work(1_000)
    if (agent.offered().length > 0) agent.fail('exit code 1')
    await scene.work(1_000)
    await scene.work(1_000)
  }
  expect((await scene.state()).in_force!.status).toBe('held')
  expect(scene.agent('vm-8').offered()).toEqual([])
}, 60_000)
