import { expect, it } from 'vitest'
import type { PlannedAutoApply } from '../../../lib/wire/auto-apply.ts'
import { ChangeNewsBody } from '../../../lib/wire/news.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()

it('a version that is to apply by itself is told of as it is requested, rejected and approved', async () => {
  const config = { publicUrl: 'https://muster.example.com', webhookUrl: 'https://hooks.example.com/in' }
  const scene = await AutoApplyScene.open(database, undefined, config)
  try {
    await scene.carry(1)
    await database.pool.execute('delete from webhook_deliveries')
    const asks = async () => {
      scene.ctx.clock.advance(1_000)
      const { plan_hash } = (await scene.request(1)).json as PlannedAutoApply
      scene.ctx.clock.advance(1_000)
      return plan_hash
    }
    await asks()
    await scene.on('POST', '/reject', { comment: 'not now: password hunter2' }, scene.approver)
    await scene.approve(await asks())
    const rows = await database.pool.query<{ body: string }>(
      'select body from webhook_deliveries order by id',
    )
    const told = rows.map(({ body }) => JSON.parse(body) as ChangeNewsBody)
    for (const news of told) expect(ChangeNewsBody.validate(news)[0]).toBeUndefined()
    const { editor, approver } = scene
    const about = { kind: 'auto_apply', name: 'Hosts', version: 1, requested_by: editor.email }
    const link = `https://muster.example.com/fleet-configs/${scene.configId}`
    const of = (event: string, status: string, by: string) => ({
      event,
      link,
      change: { ...about, status, by, workload_count: 0 },
    })
    expect(told).toMatchObject([
      of('change_requested', 'requested', editor.email),
      of('change_rejected', 'rejected', approver.email),
      of('change_requested', 'requested', editor.email),
      of('change_approved', 'active', approver.email),
    ])
    expect(JSON.stringify(told)).not.toContain('hunter2')
  } finally {
    await scene.ctx.close()
  }
})
