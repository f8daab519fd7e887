import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CampaignGroup } from '../../../lib/wire/campaigns.ts'
import { CampaignScene } from '../../support/campaign-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// What a campaign's text changes is said in words beside each group: no longer than the diff there, whatever is in the text.

const database = await useTestDatabase()
const HOSTS = 2
let scene: CampaignScene
beforeAll(async () => {
  scene = await CampaignScene.open(database, HOSTS)
  // Each runs another config, so each is a group of its own.
  for (const [at, agent] of scene.agents.entries()) {
    await pushConfig(scene.ctx.fleet, agent.workloadId, configYaml(5_000 + at))
    agent.apply()
  }
  await scene.ctx.advance(300)
}, 120_000)
afterAll(() => scene.ctx.close())

describe('what a group says of its change in words', () => {
  it.each([
    [
      'the address of an exporter',
      (long: string) =>
        configYaml(2).replace('  debug:\n', `  debug:\n  otlp/x:\n    endpoint: "\${env:${long}}"\n`),
    ],
    [
      'the path of a setting',
      (long: string) => configYaml(2).replace('  debug:\n', `  debug:\n    ? ${long}\n    : 1\n`),
    ],
  ])('is no longer for %s', { timeout: 60_000 }, async (_what, textOf) => {
    const id = await scene.planned({ change: { kind: 'text', yaml: textOf('x'.repeat(900_000)) } })
    const { status, json } = await scene.call('GET', `/${id}/groups`)
    expect(status).toBe(200)
    const groups = json as CampaignGroup[]
    expect(groups).toHaveLength(HOSTS)
    for (const group of groups) expect(JSON.stringify(group.does).length).toBeLessThan(20_000)
  })
})
