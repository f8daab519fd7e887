import { expect, test } from 'vitest'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import { eventually } from '../../support/eventually.ts'
import { connect } from './support/fleet.ts'
import { GATEWAY, pushAndSettle, workloadId } from './support/scene.ts'
import { connectManaged, page, seen, service, useStage } from './support/stage.ts'

// What was done by mistake can be taken back.
let id = ''

useStage({
  pages: 'each',
  async prepare() {
    id = await connectManaged('gateway')
  },
})

test('an alert is resolved with a reason, which is shown, and opened again', async () => {
  const failing = connect(service, 'failing', 'failing-1', {
    behaviour: { kind: 'fail', errorMessage: 'no such exporter', delayMs: 10 },
  })
  const failingId = await workloadId(service, 'failing')
  await pushAndSettle(service, failingId, GATEWAY)
  const alerts = async () => (await service.api.get('/api/alerts')) as AlertRecord[]
  await eventually('it is told', async () => (await alerts()).some(({ rule }) => rule === 'push_failed'))
  await page.goto('/alerts')
  const row = page.getByRole('row', { name: /Push failed/ })
  await row.getByRole('button', { name: 'Resolve' }).click()
  const dialog = page.getByRole('dialog', { name: 'Resolve “Push failed” of failing' })
  await dialog.getByLabel(/^Why/).fill('we know, fixed on Monday')
  await dialog.getByRole('button', { name: 'Resolve' }).click()
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  await expect.poll(() => row.count()).toBe(0)
  await page.getByRole('button', { name: 'Resolved too' }).click()
  await row.getByText('“we know, fixed on Monday”').waitFor()
  await row.getByRole('button', { name: 'Open again' }).click()
  await page.getByText('The alert is open again.').waitFor()
  await row.getByRole('button', { name: 'Resolve' }).waitFor()
  expect(await alerts()).toMatchObject([{ rule: 'push_failed' }])
  await failing.stop()
  expect(seen.complaints).toEqual([])
})

test('a draft that was started over is kept for ten minutes, also through a reload', async () => {
  await page.clock.install()
  await page.goto(`/workloads/${id}/change`)
  const editor = page.getByRole('textbox', { name: 'Draft' })
  const back = page.getByRole('button', { name: 'Bring back my draft' })
  const typeAndStartOver = async () => {
    await editor.click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.type('# mine ')
    await editor.getByText('# mine').waitFor()
    await expect.poll(() => back.count()).toBe(0)
    await page.getByRole('button', { name: 'Start over' }).click()
    await back.waitFor()
    await expect.poll(() => editor.textContent()).not.toContain('# mine')
  }
  await typeAndStartOver()
  await page.reload()
  await back.click()
  await editor.getByText('# mine').waitFor()
  await expect.poll(() => back.count()).toBe(0)
  await page.getByRole('button', { name: 'Start over' }).click()
  await back.waitFor()
  await page.clock.fastForward(601_000)
  await back.waitFor({ state: 'detached' })
})
