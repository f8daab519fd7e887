import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import type { Service } from '../support/service.ts'
import { findBarriers, launchBrowser, signIn, type Visit, visit } from './support/browser.ts'
import { connect } from './support/fleet.ts'
import { FAILING_EXPORTER, GATEWAY, pushAndSettle, workloadId } from './support/scene.ts'
import { startComplete } from './support/service.ts'

let service: Service
let browser: Browser
let agents: SimulatedAgent[]
let seen: Visit
let page: Page
let id = ''

beforeAll(async () => {
  service = await startComplete({ MIN_AGENT_VERSION: '0.140.0' })
  browser = await launchBrowser()
  agents = ['1', '2', '3'].map((pod) =>
    connect(service, 'a-gateway-with-a-long-name', `a-gateway-with-a-long-name-7c9f-${pod}`),
  )
  id = await workloadId(service, 'a-gateway-with-a-long-name', 3)
  await pushAndSettle(service, id, GATEWAY)
  agents[0]?.say({ health: FAILING_EXPORTER })
  seen = await visit(browser, service.url, { width: 390, height: 844 })
  page = seen.page
  await signIn(page)
})

afterAll(async () => {
  await seen?.context.close()
  await Promise.all((agents ?? []).map((agent) => agent.stop()))
  await browser?.close()
  await service?.stop()
})

/** How far each table of the page could be scrolled sideways, by its name. */
const sideways = () =>
  page.evaluate(() =>
    [...document.querySelectorAll('.sheet')].flatMap((sheet) => {
      const over = sheet.scrollWidth - sheet.clientWidth
      return over > 0 ? [`${sheet.getAttribute('aria-label')} by ${over} px`] : []
    }),
  )

describe('on a telephone', () => {
  test.each([
    ['/versions?recommended=0.150.0', 2],
    ['/audit', 1],
    ['/settings/users', 1],
    ['/templates', 1],
    ['/workloads/:id/instances', 1],
  ])('nothing of %s is out of sight to the side', async (path, tables) => {
    await page.goto(path.replace(':id', id))
    await page.locator('.sheet tbody tr').first().waitFor()
    await expect.poll(() => page.locator('.sheet').count()).toBeGreaterThanOrEqual(tables)
    expect(await sideways()).toEqual([])
    expect(await findBarriers(page)).toEqual([])
  })
})
