import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { workloadId } from './support/scene.ts'
import { agents, connectAgent, page, service, useStage } from './support/stage.ts'

let id = ''

useStage({
  pages: 'each',
  async prepare() {
    connectAgent('quiet', 'quiet-1')
    id = await workloadId(service, 'quiet')
  },
})

beforeEach(() => page.getByText('live', { exact: true }).waitFor())

const freeze = () => process.kill(service.process().pid, 'SIGSTOP')
const thaw = () => process.kill(service.process().pid, 'SIGCONT')
const menu = (name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true })

describe('a service that does not answer', () => {
  afterEach(thaw)

  test('is not called live: the mark says since when, and a page that does not come offers another try', async () => {
    // Load the code of the page before, so that only the request for its data hangs.
    await menu('Alerts').click()
    await page.getByText('No alert is open.').waitFor()
    await menu('Fleet').click()
    freeze()
    await page.getByText(/^stale since \d\d:\d\d$/).waitFor({ timeout: 30_000 })
    // Said over the page as well: who looks at its numbers does not look at the mark. It covers nothing of the page.
    const bar = page.getByText(/^No connection since \d\d:\d\d; it is tried again\.$/)
    await bar.waitFor()
    const box = (await bar.boundingBox())!
    const heading = (await page.getByRole('heading', { level: 1 }).boundingBox())!
    expect(box.y + box.height).toBeLessThanOrEqual(heading.y)
    await menu('Alerts').click()
    await page.getByText(/Loading… The server has been silent since \d\d:\d\d\./).waitFor()
    await page.getByText('The server did not answer within 15 s.').waitFor({ timeout: 30_000 })
    thaw()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('No alert is open.').waitFor()
    await page.getByText('live', { exact: true }).waitFor({ timeout: 30_000 })
  })

  test('does not leave a page without an end whose code has not come', async () => {
    freeze()
    await menu('Audit').click()
    await page.getByRole('button', { name: 'Try again' }).waitFor({ timeout: 30_000 })
    // One still sees what was asked for.
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
    thaw()
    // The page also appears without a click on the button.
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
  })

  test('leaves the page of a workload its name', async () => {
    await page.getByRole('link', { name: 'quiet' }).click()
    await page.getByText('All is well', { exact: false }).or(page.locator('.tabs')).first().waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'quiet' }).waitFor()
    freeze()
    await page.getByRole('link', { name: 'quiet' }).click()
    await page.getByRole('heading', { name: 'quiet', level: 1 }).waitFor({ timeout: 30_000 })
    await page.getByText('The server did not answer within 15 s.').waitFor({ timeout: 30_000 })
    await page.getByRole('heading', { name: 'quiet', level: 1 }).waitFor()
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
    // Wide enough for the column "last seen".
    await page.setViewportSize({ width: 1720, height: 900 })
    for (const path of ['/', `/workloads/${id}`]) {
      await page.goto(path)
      await page.locator('main time').last().waitFor()
      const before = await shown()
      agents[0]!.say({})
      await expect.poll(async () => String(await shown()) > String(before), { timeout: 20_000 }).toBe(true)
    }
  })
})
