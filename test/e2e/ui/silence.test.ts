import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import type { Service } from '../support/service.ts'
import { launchBrowser, signIn, type Visit, visit } from './support/browser.ts'
import { connect } from './support/fleet.ts'
import { workloadId } from './support/scene.ts'
import { startComplete } from './support/service.ts'

let service: Service
let browser: Browser
let seen: Visit
let page: Page
let agent: SimulatedAgent
let id = ''

beforeAll(async () => {
  service = await startComplete()
  browser = await launchBrowser()
  agent = connect(service, 'quiet', 'quiet-1')
  id = await workloadId(service, 'quiet')
})

beforeEach(async () => {
  seen = await visit(browser, service.url)
  page = seen.page
  await signIn(page)
  await page.getByText('live', { exact: true }).waitFor()
})

afterEach(() => seen.context.close())

afterAll(async () => {
  await agent?.stop()
  await browser?.close()
  await service?.stop()
})

const freeze = () => process.kill(service.process().pid, 'SIGSTOP')
const thaw = () => process.kill(service.process().pid, 'SIGCONT')
const menu = (name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true })

describe('a service that does not answer', () => {
  afterEach(thaw)

  test('is not called live: the mark says since when, and a page that does not come offers another try', async () => {
    // Its code is there already: what hangs is the request.
    await menu('Alerts').click()
    await page.getByText('Nothing is wrong.').waitFor()
    await menu('Fleet').click()
    freeze()
    await page.getByText(/^stale since \d\d:\d\d$/).waitFor({ timeout: 30_000 })
    await menu('Alerts').click()
    await page.getByText(/Loading… The server has been silent since \d\d:\d\d\./).waitFor()
    await page.getByText('The server did not answer within 15 s.').waitFor({ timeout: 30_000 })
    thaw()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Nothing is wrong.').waitFor()
    await page.getByText('live', { exact: true }).waitFor({ timeout: 30_000 })
  })

  test('does not leave a page without an end whose code has not come', async () => {
    freeze()
    await menu('Audit').click()
    await page.getByRole('button', { name: 'Try again' }).waitFor({ timeout: 30_000 })
    thaw()
    // It comes by itself, too.
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
  })

  test('says of a change that it may have been done', async () => {
    await page.goto('/settings/profile')
    const appearance = page.getByLabel('Appearance')
    await appearance.waitFor()
    freeze()
    await appearance.selectOption('light')
    await page
      .getByText('The server did not answer within 30 s. What you asked for may have been done')
      .waitFor({ timeout: 45_000 })
  })
})

describe('the time a workload was last heard of', () => {
  const shown = () => page.locator('main time').last().getAttribute('datetime')

  test('moves on while nothing else happens, in the list and on its page', async () => {
    for (const path of ['/', `/workloads/${id}`]) {
      await page.goto(path)
      await page.locator('main time').last().waitFor()
      const before = await shown()
      agent.say({})
      await expect.poll(async () => String(await shown()) > String(before), { timeout: 20_000 }).toBe(true)
    }
  })
})
