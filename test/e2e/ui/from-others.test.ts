import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { findBarriers, SHOTS } from './support/browser.ts'
import {
  FAILING_EXPORTER,
  GATEWAY,
  GATEWAY_FASTER,
  GATEWAY_KAFKA,
  pushAndSettle,
  SECRETIVE,
  startRollout,
  workloadId,
} from './support/scene.ts'
import { agents, connectAgent, page, seen, service, useStage } from './support/stage.ts'

const UNKNOWN_EXPORTER = 'error decoding \'exporters\': unknown type: "kafka" for id: "kafka/eu"'

useStage({ pages: 'one', withinMs: 120_000 })

/** Photographs, wide and narrow, in both themes. */
async function photograph(name: string): Promise<void> {
  for (const width of [1440, 390])
    for (const theme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme: theme })
      await page.screenshot({ path: join(SHOTS, `${name}-${width}-${theme}.png`) })
    }
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
}

test('after a first config that failed on some, what the others run is offered as a draft', async () => {
  for (let pod = 1; pod <= 4; pod++)
    connectAgent('first', `first-${pod}`, {
      capabilities: SECRETIVE,
      behaviour: { kind: 'fail', delayMs: 200, errorMessage: UNKNOWN_EXPORTER },
    })
  const id = await workloadId(service, 'first', 4)
  const body = Buffer.from(GATEWAY_FASTER)
  for (const agent of agents) agent.say({ effectiveConfig: { configMap: { configMap: { '': { body } } } } })
  await startRollout(service, id, GATEWAY_KAFKA, [
    { percentage: 25, dwell_seconds: 3_600 },
    { percentage: 100, dwell_seconds: 0 },
  ])
  await page.goto(`/workloads/${id}`)
  const way = page.getByRole('link', { name: 'Start from what the others run' })
  await way.waitFor()
  await photograph('from-others')
  expect(await findBarriers(page)).toEqual([])
  await way.click()
  const editor = page.locator('.cm-content').first()
  await editor.getByText('timeout: 2s').waitFor()
  expect(await editor.getByText('kafka').count()).toBe(0)
  await photograph('from-others-draft')
  expect(seen.complaints).toEqual([])
})

test('what to mind of a plan stands in sentences as wide as the plan', async () => {
  const ids: string[] = []
  for (const name of ['well', 'ill']) {
    const agent = connectAgent(name, `${name}-1`, { behaviour: { kind: 'apply', delayMs: 100 } })
    ids.push(await workloadId(service, name))
    await pushAndSettle(service, ids.at(-1)!, GATEWAY)
    if (name === 'ill') agent.say({ health: FAILING_EXPORTER })
  }
  await eventually('it is ill', async () => (await service.api.get(`/api/workloads/${ids[1]}`)).trouble)
  const draft = {
    name: 'Faster',
    change: { kind: 'text', yaml: GATEWAY_FASTER },
    scope: { workload_ids: ids },
    waves: [{}],
  }
  const { id } = await service.api.post('/api/campaigns', draft, 201)
  await service.api.post(`/api/campaigns/${id}/plan`, {}, 202)
  await eventually(
    'it is planned',
    async () => (await service.api.get(`/api/campaigns/${id}`)).status === 'planned',
  )
  await page.goto(`/campaigns/${id}`)
  const minded = page.locator('.minded', { hasText: 'Not well now' })
  await minded.waitFor()
  await photograph('plan-minded')
  const [text, pane] = [await minded.boundingBox(), await page.locator('.pane:has(.minded)').boundingBox()]
  expect(text!.width).toBeGreaterThan(pane!.width * 0.8)
  expect(await findBarriers(page)).toEqual([])
  await page.goto(`/reports?ids=${ids[1]}`)
  await page.getByRole('button', { name: /Preview/ }).click()
  await page.getByRole('columnheader', { name: 'Instances asked' }).first().waitFor()
  await photograph('evidence')
})
