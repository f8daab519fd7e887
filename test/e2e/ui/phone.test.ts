import { describe, expect, test } from 'vitest'
import { findBarriers } from './support/browser.ts'
import { FAILING_EXPORTER } from './support/scene.ts'
import { agents, connectManaged, page, useStage } from './support/stage.ts'

let id = ''

useStage({
  pages: 'one',
  looks: { width: 390, height: 844 },
  env: { MIN_AGENT_VERSION: '0.140.0' },
  async prepare() {
    id = await connectManaged('a-gateway-with-a-long-name', { pods: 3 })
    agents[0]?.say({ health: FAILING_EXPORTER })
  },
})

/** How many pixels each table of the page can be scrolled sideways, by the table's name. */
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
    await expect.poll(() => sideways()).toEqual([])
    await expect.poll(() => findBarriers(page)).toEqual([])
  })

  test('nobody is told of keys that a telephone does not have', async () => {
    await page.goto('/')
    await page.locator('.narrow-row').first().waitFor()
    await expect.poll(() => page.locator('header kbd').isVisible()).toBe(false)
    // The button still shows what it is for.
    await expect.poll(() => page.locator('header .find svg').isVisible()).toBe(true)
  })

  test('a row of the fleet says what tells a workload from its namesakes', async () => {
    await page.goto('/')
    await page.locator('.narrow-row').first().getByText('eu-1/shop', { exact: true }).waitFor()
  })
})
