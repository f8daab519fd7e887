import { afterEach, expect, it } from 'vitest'
import type { CampaignGroup } from '../../../lib/wire/campaigns.ts'
import { CampaignScene } from '../../support/campaign-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: CampaignScene
afterEach(() => scene.ctx.close())

it('what a campaign changes is shown as it was planned and approved, also once that runs and after other changes', async () => {
  scene = await CampaignScene.open(database, 2)
  const groupsOf = async (id: string) => (await scene.call('GET', `/${id}/groups`)).json as CampaignGroup[]
  const patch = { rename_component: [{ category: 'exporters', from: 'debug', to: 'debug/renamed' }] }
  const id = await scene.start({ change: { kind: 'patch', patch } })
  const planned = await groupsOf(id)
  expect(planned).toMatchObject([{ count: 2, diff_missing: false }])
  expect(planned[0]!.diff).toContain('debug/renamed')
  await scene.work(300, 2)
  for (const agent of scene.agents) agent.apply()
  await scene.work(2_000, 3)
  expect(await scene.record(id)).toMatchObject({ status: 'done', counts: { applied: 2 } })
  expect(await groupsOf(id)).toEqual(planned)
  for (const agent of scene.agents) await pushConfig(scene.ctx.fleet, agent.workloadId, configYaml(3))
  expect(await groupsOf(id)).toEqual(planned)
})
