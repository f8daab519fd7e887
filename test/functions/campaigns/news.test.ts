import { expect, it } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { ChangeNewsBody } from '../../../lib/wire/news.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()

it('a campaign is told of as it is requested, rejected and approved', async () => {
  await database.pool.execute('delete from webhook_deliveries')
  const config = { publicUrl: 'https://muster.example.com', webhookUrl: 'https://hooks.example.com/in' }
  const scene = await AutoApplyScene.open(database, undefined, config)
  try {
    const asks = async (name: string) => {
      const change = { kind: 'version', fleet_config_id: scene.configId, number: 1, takeover: true }
      const { json } = await scene.call('POST /api/campaigns', { name, change, scope: {} })
      const { id } = json as CampaignRecord
      await scene.call(`POST /api/campaigns/${id}/plan`)
      await expect.poll(async () => (await scene.readCampaign(id)).status).toBe('planned')
      const { plan_hash } = await scene.readCampaign(id)
      const body = { plan_hash, comment: 'password: hunter2', prod_confirmation: true }
      expect(await scene.call(`POST /api/campaigns/${id}/request`, body)).toMatchObject({ status: 200 })
      return { id, body }
    }
    const first = await asks('First')
    // What is told goes by the time.
    scene.ctx.clock.advance(1_000)
    const no = await scene.call(`POST /api/campaigns/${first.id}/reject`, first.body, scene.approver)
    expect(no).toMatchObject({ status: 200 })
    scene.ctx.clock.advance(1_000)
    const second = await asks('Second')
    scene.ctx.clock.advance(1_000)
    const yes = await scene.call(`POST /api/campaigns/${second.id}/approve`, second.body, scene.approver)
    expect(yes).toMatchObject({ status: 200 })
    const rows = await database.pool.query<{ body: string }>(
      'select body from webhook_deliveries order by id',
    )
    const told = rows.map(({ body }) => JSON.parse(body) as ChangeNewsBody)
    for (const news of told) expect(ChangeNewsBody.validate(news)[0]).toBeUndefined()
    const { editor, approver } = scene
    const of = (event: string, id: string, status: string, by: string) => ({
      event,
      link: `https://muster.example.com/campaigns/${id}`,
      change: { kind: 'campaign', id, status, by, requested_by: editor.email },
    })
    expect(told).toMatchObject([
      of('change_requested', first.id, 'requested', editor.email),
      of('change_rejected', first.id, 'rejected', approver.email),
      of('change_requested', second.id, 'requested', editor.email),
      of('change_approved', second.id, 'approved', approver.email),
    ])
    expect(JSON.stringify(told)).not.toContain('hunter2')
  } finally {
    await scene.ctx.close()
  }
})
