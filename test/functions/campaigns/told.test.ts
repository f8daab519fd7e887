import { afterEach, beforeEach, expect, it } from 'vitest'
import type { CampaignRecord, CampaignTarget } from '../../../lib/wire/campaigns.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene
beforeEach(async () => {
  await database.pool.execute(`delete from settings where name = 'freeze'`)
  scene = await AutoApplyScene.open(database)
})
afterEach(() => scene.ctx.close())

it('the plan says who holds a workload and why, and who froze it', async () => {
  const hold = { reason: 'a disk is being changed' }
  await scene.call(`POST /api/workloads/${scene.agent('vm-2').workloadId}/hold`, hold)
  const change = { kind: 'version', fleet_config_id: scene.configId, number: 1, takeover: true }
  const draft = { name: 'One', change, scope: {}, waves: [{}] }
  const { id } = (await scene.call('POST /api/campaigns', draft)).json as CampaignRecord
  const held = async () => {
    await scene.call(`POST /api/campaigns/${id}/plan`)
    while (scene.ctx.campaigns.planner.progress(id) !== null)
      await new Promise((resolve) => setTimeout(resolve, 5))
    const all = (await scene.call(`GET /api/campaigns/${id}/targets?verdict=held`)).json as CampaignTarget[]
    return all.map(({ workload_name: name, reason, title }) => ({ name, reason, title }))
  }
  expect(await held()).toMatchObject([
    { reason: 'held', title: `${scene.editor.email}: a disk is being changed` },
  ])
  const admin = await signIn(scene.ctx)
  const until = new Date(scene.ctx.clock.now().getTime() + 3_600_000).toISOString()
  const frozen = await scene.call('PUT /api/freeze', { reason: 'the audit', until }, admin)
  expect(frozen.status, JSON.stringify(frozen.json)).toBeLessThan(300)
  expect(await held()).toEqual(
    Array.from({ length: 3 }, () =>
      expect.objectContaining({ reason: 'frozen', title: `${admin.email}: the audit` }),
    ),
  )
})

it('each step of a campaign is recorded with how many workloads it has, and how it stands with them', async () => {
  const id = await scene.campaign(1, { waves: [{ count: 1 }, {}] })
  await scene.work(300)
  await scene.call(`POST /api/campaigns/${id}/pause`, { comment: 'wait' })
  await scene.applyAll()
  await scene.work(300)
  await scene.call(`POST /api/campaigns/${id}/continue`, { comment: 'go on' })
  for (let n = 0; n < 6; n++) {
    await scene.work(300)
    await scene.applyAll()
  }
  const rows = await database.pool.query<{ action: string; detail: string }>(
    `select action, detail from audit_events where resource_id = $1 and action like 'campaign.%' order by seq`,
    [id],
  )
  const told = (action: string) => JSON.parse(rows.find((row) => row.action === action)!.detail) as object
  expect(told('campaign.start')).toMatchObject({ workload_count: 3, waiting_count: 3, applied_count: 0 })
  expect(told('campaign.pause')).toMatchObject({ workload_count: 3, waiting_count: 2, started_count: 1 })
  expect(told('campaign.wave')).toMatchObject({ wave: 1, wave_count: 2, waiting_count: 2, applied_count: 1 })
  expect(told('campaign.done')).toMatchObject({ workload_count: 3, applied_count: 3, failed_count: 0 })
})
