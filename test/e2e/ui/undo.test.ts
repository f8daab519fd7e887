import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { SimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../../support/eventually.ts'
import type { Service } from '../support/service.ts'
import { launchBrowser, signIn, type Visit, visit } from './support/browser.ts'
import { connect } from './support/fleet.ts'
import { GATEWAY, pushAndSettle, workloadId } from './support/scene.ts'
import { startComplete } from './support/service.ts'

// What is done by a slip of the hand can be taken back.
let service: Service
let browser: Browser
let agent: SimulatedAgent
let seen: Visit
let page: Page
let id = ''

beforeAll(async () => {
  service = await startComplete()
  browser = await launchBrowser()
  agent = connect(service, 'gateway', 'gateway-1')
  id = await workloadId(service, 'gateway')
  await pushAndSettle(service, id, GATEWAY)
})

beforeEach(async () => {
  seen = await visit(browser, service.url)
  page = seen.page
  await signIn(page)
})

afterEach(() => seen.context.close())

afterAll(async () => {
  await agent?.stop()
  await browser?.close()
  await service?.stop()
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
  expect(await row.count()).toBe(0)
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
    expect(await back.count()).toBe(0)
    await page.getByRole('button', { name: 'Start over' }).click()
    await back.waitFor()
    expect(await editor.textContent()).not.toContain('# mine')
  }
  await typeAndStartOver()
  await page.reload()
  await back.click()
  await editor.getByText('# mine').waitFor()
  expect(await back.count()).toBe(0)
  await page.getByRole('button', { name: 'Start over' }).click()
  await back.waitFor()
  await page.clock.fastForward(601_000)
  await back.waitFor({ state: 'detached' })
})
